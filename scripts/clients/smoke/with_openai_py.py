"""openai for Python: a judge's question in every form that the SDK offers."""

import json
import re
from typing import Literal

from pydantic import BaseModel

import report

CASE = "Question: What is the capital of France?\nReference: Paris\nSubmission: It is Paris.\n"


def asked(question):
    return [{"role": "system", "content": "You judge answers."}, {"role": "user", "content": CASE + question}]


# docs: begin
from openai import OpenAI

judge = OpenAI()
completion = judge.chat.completions.create(
    model="panel",
    messages=[
        {"role": "user", "content": "Is Lima the capital of Peru? Explain, then end with a line 'GRADE: C' or 'GRADE: I'."}
    ],
)
print(completion.choices[0].message.content)
# docs: end
report.documented()

if report.IS_TRIBUNAL:
    # docs: begin votes
    print(completion.tribunal["disagreement"], completion.tribunal["escalated"])
    # docs: end


class Judgement(BaseModel):
    reasoning: str
    verdict: Literal["correct", "incorrect"]
    score: int


TOOL = {
    "type": "function",
    "function": {
        "name": "select_choice",
        "parameters": {
            "type": "object",
            "properties": {"reasons": {"type": "string"}, "choice": {"type": "string", "enum": ["A", "B"]}},
            "required": ["reasons", "choice"],
            "additionalProperties": False,
        },
    },
}


@report.step("label at the end")
def _():
    text = completion.choices[0].message.content
    return report.expect(re.findall(r"GRADE: ([CI])", text)[-1:] == ["C"], text)


@report.step("JSON by example")
def _():
    answer = judge.chat.completions.create(
        model="panel", response_format={"type": "json_object"}, seed=7,
        messages=asked('Answer as JSON {"reason": str, "pass": bool, "score": 0..1}.'),
    )
    found = json.loads(answer.choices[0].message.content)
    return report.expect(found["pass"] is True and found["score"] >= 0.5, found)


@report.step("schema")
def _():
    answer = judge.chat.completions.parse(
        model="panel", response_format=Judgement, max_completion_tokens=400, messages=asked("Judge it; score 1 to 5.")
    )
    found = answer.choices[0].message.parsed
    # The judges say 5, 4 and 2.
    scores = (4,) if report.IS_SCRIPTED_PANEL else (3, 4, 5)
    return report.expect(found.verdict == "correct" and found.score in scores, found.model_dump())


@report.step("votes and headers")
def _():
    answer = judge.chat.completions.with_raw_response.create(model="panel", messages=asked("Answer yes or no."))
    if not report.IS_SCRIPTED_PANEL:
        return "not of a scripted panel"
    tribunal = answer.parse().tribunal
    assert tribunal["quorum"] == {"asked": 3, "voted": 3, "required": 2, "met": True, "degraded": False}, tribunal
    [criterion] = tribunal["criteria"].values()
    assert [vote["value"] for vote in criterion["votes"]] == ["yes", "yes", "no"], tribunal
    assert answer.headers["x-tribunal-verdict-id"] == tribunal["verdict_id"], answer.headers
    assert abs(float(answer.headers["x-tribunal-disagreement"]) - tribunal["disagreement"]) < 1e-3, answer.headers
    return tribunal["disagreement"]


@report.step("forced tool")
def _():
    choice = {"type": "function", "function": {"name": "select_choice"}}
    answer = judge.chat.completions.create(
        model="panel", tools=[TOOL], tool_choice=choice, messages=asked("(A) the submission is right (B) it is wrong")
    )
    [call] = answer.choices[0].message.tool_calls
    assert answer.choices[0].finish_reason in ("tool_calls", "stop"), answer.choices[0].finish_reason
    found = json.loads(call.function.arguments)
    return report.expect(found["choice"] == "A", found)


@report.step("log-probabilities")
def _():
    answer = judge.chat.completions.create(
        model="gpt-4o", logprobs=True, top_logprobs=5, max_tokens=1, temperature=0,
        messages=asked("Is the submission correct? Answer with the single word yes or no."),
    )
    choice = answer.choices[0]
    tokens = choice.logprobs.content
    assert "".join(token.token for token in tokens) == choice.message.content, choice
    found = {entry.token: entry.logprob for entry in tokens[-1].top_logprobs}
    return report.expect(choice.message.content.strip().lower() == "yes" and found["yes"] > found["no"], found)


@report.step("two choices")
def _():
    answer = judge.chat.completions.create(model="panel", n=2, messages=asked("Answer yes or no."))
    assert len(answer.choices) == 2, answer
    return [choice.message.content for choice in answer.choices]


@report.step("stream")
def _():
    text, usage = "", None
    options = {"include_usage": True}
    for event in judge.chat.completions.create(
        model="panel", stream=True, stream_options=options, messages=asked("Is it correct? Answer yes or no.")
    ):
        text += (event.choices[0].delta.content or "") if event.choices else ""
        usage = event.usage or usage
    assert usage and usage.total_tokens > 0, usage
    return report.expect(text.strip().lower() == "yes", text)


@report.step("responses")
def _():
    answer = judge.responses.create(model="gpt-5-mini", input=CASE + "Is it correct? Answer yes or no.")
    return report.expect(answer.output_text.strip().lower() == "yes", answer.output_text)


@report.step("responses with a schema")
def _():
    found = judge.responses.parse(model="gpt-5-mini", input=CASE + "Judge it; score 1 to 5.", text_format=Judgement).output_parsed
    return report.expect(found.verdict == "correct" and found.score >= 3, found.model_dump())


if report.IS_TRIBUNAL:
    # docs: begin decisions
    decision = judge.decisions.create(
        model="panel",
        input="Question: What is the capital of Peru?\nAnswer: It is Lima.",
        questions=[
            {"type": "predicate", "name": "right", "instructions": "The answer is right."},
            {
                "type": "score",
                "name": "quality",
                "instructions": "How good is the answer?",
                "levels": [{"label": "bad"}, {"label": "middling"}, {"label": "good"}],
            },
        ],
    )
    print(decision.answers[0].probability, decision.answers[1].score)
    # docs: end

    @report.step("decisions")
    def _():
        predicate, score = decision.answers
        found = [predicate.probability, score.score, [share.probability for share in score.probabilities]]
        # Two of three judges approve.
        exact = not report.IS_SCRIPTED_PANEL or abs(predicate.probability - 2 / 3) < 1e-9
        assert abs(sum(found[2]) - 1) < 1e-9 and decision.usage.total_tokens > 0, found
        return report.expect(exact and predicate.probability > 0.5 and score.score >= 1, found)


@report.step("models")
def _():
    names = [model.id for model in judge.models.list()]
    assert names, names
    return names


report.end()
