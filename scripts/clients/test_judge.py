"""The scripted judge: which form it answers in, what its leaning decides, and how it fails by script."""

import json
import pathlib
import sys
import unittest
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import judge_replies
import judge_server

SCHEMA = {
    "type": "object",
    "$defs": {"Point": {"type": "object", "properties": {"statement": {"type": "string"}, "verdict": {"type": "integer"}}}},
    "properties": {
        "reason": {"type": "string"},
        "right": {"type": "boolean"},
        "score": {"type": "integer", "minimum": 0, "maximum": 10},
        "share": {"type": "number"},
        "label": {"enum": ["incorrect", "correct"]},
        "choice": {"type": "string", "pattern": "^(no|yes)$"},
        "maybe": {"anyOf": [{"type": "null"}, {"type": "boolean"}]},
        "points": {"type": "array", "items": {"$ref": "#/$defs/Point"}},
        "scores": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
}
APPROVED = {"right": True, "score": 10, "share": 1.0, "label": "correct", "choice": "yes", "maybe": True, "scores": {"quality": 5}}
FAULTED = {"right": False, "score": 0, "share": 0.0, "label": "incorrect", "choice": "no", "maybe": False, "scores": {"quality": 1}}


def answered(body, leaning=1.0, rules=()):
    return judge_replies.reply(body, leaning, list(rules))


def user(text, **further):
    return {"messages": [{"role": "user", "content": text}], **further}


def with_schema(schema):
    return user("Judge it.", response_format={"type": "json_schema", "json_schema": {"schema": schema}})


class Forms(unittest.TestCase):
    def test_a_schema_is_filled_as_the_judge_leans(self):
        for leaning, expected in ((1.0, APPROVED), (0.0, FAULTED)):
            found = json.loads(answered(with_schema(SCHEMA), leaning).text)
            self.assertEqual(list(found), list(SCHEMA["properties"]))
            self.assertEqual({name: found[name] for name in expected}, expected)
            self.assertEqual([point["verdict"] for point in found["points"]], [int(leaning)])

    def test_a_schema_is_found_wherever_it_stands(self):
        expected = {"right": True}
        schema = {"type": "object", "properties": {"right": {"type": "boolean"}}}
        tool = {"name": "judge", "parameters": schema}
        for body in (
            with_schema(schema),
            {"input": "Judge it.", "text": {"format": {"type": "json_schema", "schema": schema}}},
            user("Answer by this schema: " + json.dumps(schema) + " It is not {this one}."),
            user("Judge it.", tools=[{"type": "function", "function": tool}], tool_choice="required"),
            {"input": [{"role": "user", "content": [{"type": "input_text", "text": "Judge it."}]}],
             "tools": [{"type": "function", **tool}], "tool_choice": {"type": "function", "name": "judge"}},
        ):
            with self.subTest(body):
                reply = answered(body)
                self.assertEqual(json.loads(reply.text), expected)
                self.assertEqual(reply.tool, "judge" if "tools" in body else None)

    def test_a_tool_that_may_be_left_alone_is(self):
        self.assertIsNone(answered(user("Judge it.", tools=[{"function": {"name": "judge"}}], tool_choice="auto")).tool)

    def test_without_a_form_the_answer_is_a_word(self):
        self.assertEqual([answered(user("Right?"), leaning).text for leaning in (1.0, 0.75, 0.25)], ["yes", "yes", "no"])


class Rules(unittest.TestCase):
    def test_the_first_rule_that_fits_the_text_decides(self):
        rules = [{"match": "GRADE", "reply": "So.\nGRADE: {{C|I}}"}, {"match": "", "reply": {"score": "{{=1..5}}"}}]
        self.assertEqual(answered(user("End with GRADE."), 0.25, rules).text, "So.\nGRADE: I")
        self.assertEqual([json.loads(answered(user("How good?"), leaning, rules).text)["score"] for leaning in (1.0, 0.75, 0.25)], [5, 4, 2])

    def test_fields_and_captures_and_the_other_way_round(self):
        fields = [{"match": "", "fields": {"score": "{{=1.0..0.0}}"}}]
        schema = {"type": "object", "properties": {"score": {"type": "number"}}}
        self.assertEqual(json.loads(answered(with_schema(schema), 1.0, fields).text), {"score": 0.0})
        found = [{"match": "", "find": {"best": [r"(\w+) is right", r"(\w+) is wrong"]}, "reply": "{{@best}}"}]
        self.assertEqual([answered(user("Ann is right, Bob is wrong."), leaning, found).text for leaning in (1.0, 0.0)], ["Ann", "Bob"])
        either = [{"match": "", "reply": {"TP": [1]}, "otherwise": {"TP": []}}]
        self.assertEqual([json.loads(answered(user(""), leaning, either).text) for leaning in (1.0, 0.25)], [{"TP": [1]}, {"TP": []}])

    def test_every_rule_file_can_be_read(self):
        keys = {"match", "reply", "otherwise", "fields", "find"}
        for path in (HERE / "replies").glob("*.json"):
            with self.subTest(path.name):
                rules = judge_server.rules_of(path.stem)
                self.assertEqual([rule for rule in rules if not set(rule) <= keys or "match" not in rule], [])


class Logprobs(unittest.TestCase):
    def test_tokens_join_to_the_text_and_the_chosen_word_is_the_likeliest(self):
        reply = answered(user("x"), 0.75, [{"match": "", "reply": {"reason": "It is so.", "score": "{{=1..5}}"}}])
        tokens = judge_replies.token_logprobs(reply.pieces, 20)
        self.assertEqual("".join(token["token"] for token in tokens), reply.text)
        [verdict] = [token for token in tokens if len(token["top_logprobs"]) > 1]
        self.assertEqual(verdict["token"], "4")
        self.assertEqual(verdict["top_logprobs"][0]["token"], "4")
        self.assertEqual({entry["token"] for entry in verdict["top_logprobs"]}, set("12345"))
        self.assertEqual(judge_replies.token_logprobs(reply.pieces, 2)[-2]["top_logprobs"], verdict["top_logprobs"][:2])


class Wire(unittest.TestCase):
    def setUp(self):
        self.judge = judge_server.JudgeServer(1.0)

    def post(self, route, body):
        request = urllib.request.Request(self.judge.base_url + route, json.dumps(body).encode(), {"content-type": "application/json"})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10) as answer:
            return answer.read().decode()

    def test_chat_and_responses(self):
        chat = json.loads(self.post("/chat/completions", user("Right?", n=2, logprobs=True, top_logprobs=2)))
        self.assertEqual([choice["message"]["content"] for choice in chat["choices"]], ["yes", "yes"])
        self.assertEqual(chat["choices"][0]["logprobs"]["content"][0]["token"], "yes")
        responses = json.loads(self.post("/responses", {"input": "Right?"}))
        self.assertEqual(responses["output"][0]["content"][0]["text"], "yes")
        self.assertEqual(self.judge.requests, {"/chat/completions": 1, "/responses": 1})

    def test_a_stream_has_the_whole_text_and_the_usage(self):
        lines = self.post("/chat/completions", user("Right?", stream=True)).split("\n\n")
        self.assertEqual(lines[-2:], ["data: [DONE]", ""])
        chunks = [json.loads(line.removeprefix("data: ")) for line in lines[:-2]]
        self.assertEqual("".join(choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"]), "yes")
        self.assertEqual(chunks[-1]["usage"]["total_tokens"], 120)

    def test_equal_texts_have_equal_embeddings(self):
        data = json.loads(self.post("/embeddings", {"input": ["a b", "a b", "c"]}))["data"]
        self.assertEqual(data[0]["embedding"], data[1]["embedding"])
        self.assertNotEqual(data[0]["embedding"], data[2]["embedding"])

    def test_its_manner_shows_in_what_it_writes(self):
        body = with_schema({"type": "object", "properties": {"right": {"type": "boolean"}}})
        for manner, expected in (("fenced", '```json\n{"right": true}\n```'), ("talkative", 'So I say: {"right": true}\n\n'), ("refusing", "")):
            self.judge.manner = manner
            message = json.loads(self.post("/chat/completions", body))["choices"][0]["message"]
            self.assertIn(expected, message["content"])
            self.assertEqual(message["refusal"] is not None, manner == "refusing")

    def test_it_fails_as_often_as_it_was_told(self):
        self.judge.fail(503, 2)
        statuses = []
        for _ in range(3):
            try:
                self.post("/chat/completions", user("Right?"))
                statuses.append(200)
            except urllib.error.HTTPError as error:
                statuses.append(error.code)
                self.assertEqual(error.headers["retry-after"], "1")
                error.close()
        self.assertEqual(statuses, [503, 503, 200])


if __name__ == "__main__":
    unittest.main()
