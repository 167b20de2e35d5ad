"""prometheus-eval: the trained format, a text that ends in `[RESULT] 4` or `[RESULT] A`."""

import report

# docs: begin
from prometheus_eval import PrometheusEval
from prometheus_eval.litellm import LiteLLM
from prometheus_eval.prompts import ABSOLUTE_PROMPT, RELATIVE_PROMPT

panel = PrometheusEval(
    model=LiteLLM("openai/panel"), absolute_grade_template=ABSOLUTE_PROMPT, relative_grade_template=RELATIVE_PROMPT
)
feedback, score = panel.single_absolute_grade(
    instruction="What is the capital of Peru?",
    response="It is Lima.",
    rubric="Is the answer right? Score 1: it is wrong. Score 5: it is right.",
    reference_answer="Lima",
)
print(score, feedback)
# docs: end

CASE = {"instruction": "What is the capital of France?", "rubric": "Which answer is right?", "reference_answer": "Paris"}


@report.step("absolute")
def _():
    assert isinstance(score, int), score
    return report.expect(score >= 3, [score, feedback])


@report.step("relative")
def _():
    reason, better = panel.single_relative_grade(response_A="It is Paris.", response_B="It is Lyon.", **CASE)
    return report.expect(better == "A", [better, reason])


report.end()
