"""LangChain's ChatOpenAI: structured output by each of its methods."""

from typing import Literal

import report

# docs: begin
from langchain_openai import ChatOpenAI
from pydantic import BaseModel


class Judgement(BaseModel):
    reasoning: str
    verdict: Literal["correct", "incorrect"]
    score: int


panel = ChatOpenAI(model="panel")
judge = panel.with_structured_output(Judgement)
judgement = judge.invoke("Question: What is the capital of Peru? Answer: Lima. Judge the answer; score 1 to 5.")
print(judgement.verdict, judgement.score)
# docs: end

CASE = "Question: What is the capital of France? Answer: Paris. "


@report.step("json_schema")
def _():
    return report.expect(judgement.verdict == "correct" and judgement.score >= 3, judgement.model_dump())


for method in ("function_calling", "json_mode"):

    @report.step(method)
    def _():
        further = 'Answer as JSON {"reasoning": str, "verdict": "correct" or "incorrect", "score": 1 to 5}.' if method == "json_mode" else ""
        found = panel.with_structured_output(Judgement, method=method).invoke(CASE + "Judge the answer. " + further)
        return report.expect(found.verdict == "correct" and found.score >= 3, found.model_dump())


@report.step("responses")
def _():
    by_responses = ChatOpenAI(model="panel", use_responses_api=True)
    found = by_responses.with_structured_output(Judgement).invoke(CASE + "Judge the answer.")
    return report.expect(found.verdict == "correct" and found.score >= 3, found.model_dump())


@report.step("log-probabilities")
def _():
    answer = ChatOpenAI(model="panel", logprobs=True, top_logprobs=3).invoke(CASE + "Is it right? Answer yes or no.")
    tops = answer.response_metadata["logprobs"]["content"][-1]["top_logprobs"]
    return report.expect(answer.content.lower() == "yes", {entry["token"]: entry["logprob"] for entry in tops})


@report.step("stream")
def _():
    text = "".join(chunk.content for chunk in panel.stream(CASE + "Is it right? Answer yes or no."))
    return report.expect(text.lower() == "yes", text)


report.end()
