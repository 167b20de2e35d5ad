"""openai for Python with a small model behind every judge: forms that a model of any size can fill in a few tokens.

A schema holds the model to its form, so that a verdict has to come. Where a tool or a word is asked for, a small model may write
nothing that can be read; then the client has to hear that there is no quorum, and nothing else.
"""

import json
from typing import Literal

import openai
from pydantic import BaseModel

import report

judge = openai.OpenAI(max_retries=0, timeout=120)
QUESTION = "Question: What is the capital of France?\nAnswer: It is Paris.\n"
WORDS = "Is the answer right? Answer with the single word yes or no."


class Judgement(BaseModel):
    verdict: Literal["correct", "incorrect"]
    score: Literal[1, 2, 3, 4, 5]
    complete: bool


def asked(question):
    return [{"role": "user", "content": QUESTION + question}]


def or_no_quorum(ask):
    try:
        return ask()
    except openai.InternalServerError as error:
        assert error.status_code == 503 and error.code == "no_quorum", error
        assert int(error.response.headers["retry-after"]) > 0, error.response.headers
        return "no quorum"


@report.step("schema")
def _():
    answer = judge.chat.completions.parse(model="panel", response_format=Judgement, messages=asked("Judge the answer."))
    votes = {name: [vote["value"] for vote in criterion["votes"]] for name, criterion in answer.tribunal["criteria"].items()}
    found = answer.choices[0].message.parsed
    assert found.score in votes["score"] and found.verdict in votes["verdict"] and found.complete in votes["complete"], answer
    return {"answer": found.model_dump(), "votes": votes}


@report.step("responses with a schema")
def _():
    return judge.responses.parse(model="panel", input=QUESTION + "Judge the answer.", text_format=Judgement).output_parsed.model_dump()


@report.step("forced tool")
def _():
    parameters = {"type": "object", "properties": {"choice": {"type": "string", "enum": ["A", "B"]}}, "required": ["choice"]}

    def ask():
        answer = judge.chat.completions.create(
            model="panel", messages=asked("(A) the answer is right (B) it is wrong"),
            tools=[{"type": "function", "function": {"name": "select_choice", "parameters": parameters}}],
            tool_choice={"type": "function", "function": {"name": "select_choice"}},
        )
        [call] = answer.choices[0].message.tool_calls
        found = json.loads(call.function.arguments)
        assert list(found) == ["choice"] and found["choice"] in ("A", "B"), found
        return found

    return or_no_quorum(ask)


@report.step("log-probabilities")
def _():
    def ask():
        answer = judge.chat.completions.create(
            model="panel", messages=asked(WORDS), logprobs=True, top_logprobs=5, max_tokens=1, temperature=0
        )
        choice = answer.choices[0]
        assert "".join(token.token for token in choice.logprobs.content) == choice.message.content, choice
        return {entry.token: entry.logprob for entry in choice.logprobs.content[-1].top_logprobs}

    return or_no_quorum(ask)


@report.step("stream")
def _():
    def ask():
        events = judge.chat.completions.create(model="panel", messages=asked(WORDS), stream=True, max_tokens=8)
        return "".join(event.choices[0].delta.content or "" for event in events if event.choices)

    return or_no_quorum(ask)


report.end()
