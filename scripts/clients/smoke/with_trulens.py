"""TruLens: feedback functions of its OpenAI provider, which asks through /v1/responses only."""

import report

# docs: begin
from trulens.providers.openai import OpenAI

panel = OpenAI(model_engine="panel")
score, reasons = panel.relevance_with_cot_reasons("What is the capital of Peru?", "It is Lima.")
print(score, reasons["reason"])
# docs: end

QUESTION, ANSWER = "What is the capital of France?", "It is Paris."


@report.step("relevance with reasons")
def _():
    return report.expect(score >= 0.5, [score, reasons])


@report.step("relevance")
def _():
    found = panel.relevance(QUESTION, ANSWER)
    return report.expect(found >= 0.5, found)


@report.step("context relevance")
def _():
    found = panel.context_relevance(QUESTION, "The capital of France is Paris.")
    return report.expect(found >= 0.5, found)


report.end()
