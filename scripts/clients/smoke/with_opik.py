"""Opik: metrics with a schema, one of them with log-probabilities beside it."""

import report

# docs: begin
from opik.evaluation.metrics import GEval

metric = GEval(
    task_introduction="You judge answers to questions about geography.",
    evaluation_criteria="Does the answer name the right city?",
    model="openai/panel",
    track=False,
)
result = metric.score(output="Question: What is the capital of Peru? Answer: Lima.")
print(result.value, result.reason)
# docs: end

from opik.evaluation.metrics import AnswerRelevance, Hallucination

CASE = {"input": "What is the capital of France?", "output": "It is Paris.", "context": ["The capital of France is Paris."]}


@report.step("GEval")
def _():
    return report.expect(result.value >= 0.5, [result.value, result.reason])


@report.step("hallucination")
def _():
    found = Hallucination(model="openai/panel", track=False).score(**CASE)
    return report.expect(found.value <= 0.5, [found.value, found.reason])


@report.step("answer relevance")
def _():
    found = AnswerRelevance(model="openai/panel", track=False).score(**CASE)
    return report.expect(found.value >= 0.5, [found.value, found.reason])


report.end()
