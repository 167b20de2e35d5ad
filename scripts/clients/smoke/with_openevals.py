"""openevals: a judge with a strict schema: a flag, a number, or a choice."""

import report

# docs: begin
from openai import OpenAI
from openevals.llm import create_llm_as_judge

PROMPT = "Question: {inputs}\nAnswer: {outputs}\nRight answer: {reference_outputs}\nIs the answer right?"
is_right = create_llm_as_judge(prompt=PROMPT, judge=OpenAI(), model="panel", feedback_key="right")
verdict = is_right(inputs="What is the capital of Peru?", outputs="It is Lima.", reference_outputs="Lima")
print(verdict["score"], verdict["comment"])
# docs: end

CASE = {"inputs": "What is the capital of France?", "outputs": "It is Paris.", "reference_outputs": "Paris"}


def judged(**settings):
    return create_llm_as_judge(prompt=PROMPT, judge=OpenAI(), model="panel", **settings)(**CASE)


@report.step("flag")
def _():
    return report.expect(verdict["score"] is True, verdict)


@report.step("flag alone")
def _():
    found = judged(use_reasoning=False)
    return report.expect(found["score"] is True, found)


@report.step("number")
def _():
    found = judged(continuous=True)
    assert not isinstance(found["score"], bool) and 0 <= found["score"] <= 1, found
    return report.expect(found["score"] > 0.5, found)


@report.step("choice")
def _():
    found = judged(choices=[0.0, 0.5, 1.0])
    assert found["score"] in (0.0, 0.5, 1.0), found
    return report.expect(found["score"] > 0, found)


report.end()
