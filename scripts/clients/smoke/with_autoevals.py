"""autoevals: classifiers that call a tool, and statements that are judged one by one."""

import report

# docs: begin
from autoevals import Factuality, init
from openai import OpenAI

init(OpenAI())
verdict = Factuality(model="panel").eval(input="What is the capital of Peru?", output="It is Lima.", expected="Lima")
print(verdict.score, verdict.metadata["rationale"])
# docs: end

from autoevals import Battle, ClosedQA, ContextRecall, Faithfulness, LLMClassifier

QUESTION, ANSWER = "What is the capital of France?", "The capital of France is Paris."
CONTEXT = "France is a country in Europe. Its capital is Paris."
PROMPT = "Question: {{input}}\nReference: {{expected}}\nAnswer: {{output}}\nIs the answer (yes) right or (no) wrong?"


@report.step("Factuality")
def _():
    return report.expect(verdict.score == 1, verdict.as_dict())


@report.step("Factuality by responses")
def _():
    found = Factuality(model="gpt-5-mini").eval(input=QUESTION, output=ANSWER, expected="Paris")
    return report.expect(found.score == 1, found.as_dict())


@report.step("ClosedQA")
def _():
    found = ClosedQA(model="panel").eval(input=QUESTION, output=ANSWER, criteria="The answer names Paris.")
    return report.expect(found.score == 1, found.as_dict())


@report.step("Battle")
def _():
    found = Battle(model="panel").eval(instructions=QUESTION, output=ANSWER, expected="It is Lyon.")
    return report.expect(found.score == 1, found.as_dict())


for has_reasons in (True, False):

    @report.step(f"classifier, reasons {has_reasons}")
    def _():
        classifier = LLMClassifier(
            name="right", prompt_template=PROMPT, choice_scores={"yes": 1, "no": 0}, use_cot=has_reasons, model="panel"
        )
        found = classifier.eval(input=QUESTION, output=ANSWER, expected="Paris")
        return report.expect(found.score == 1, found.as_dict())


for kind in (Faithfulness, ContextRecall):

    @report.step(kind.__name__)
    def _():
        found = kind(model="panel").eval(input=QUESTION, output=ANSWER, expected=ANSWER, context=CONTEXT)
        return report.expect(found.score == 1, found.as_dict())


report.end()
