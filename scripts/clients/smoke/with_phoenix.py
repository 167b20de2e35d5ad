"""Phoenix evals: classifiers with a strict schema, one of the library's own and one made here."""

import report

# docs: begin
from phoenix.evals import LLM
from phoenix.evals.metrics import CorrectnessEvaluator

is_correct = CorrectnessEvaluator(llm=LLM(provider="openai", model="panel"))
[verdict] = is_correct.evaluate({"input": "What is the capital of Peru?", "output": "It is Lima."})
print(verdict.label, verdict.score, verdict.explanation)
# docs: end

from phoenix.evals import create_classifier
from phoenix.evals.metrics import FaithfulnessEvaluator

CASE = {"input": "What is the capital of France?", "output": "It is Paris.", "context": "The capital of France is Paris."}


@report.step("correctness")
def _():
    return report.expect(verdict.label == "correct" and verdict.score == 1, verdict.to_dict())


@report.step("faithfulness")
def _():
    [found] = FaithfulnessEvaluator(llm=LLM(provider="openai", model="panel")).evaluate(CASE)
    return report.expect(found.label == "faithful" and found.score == 1, found.to_dict())


def classified(**choices):
    classifier = create_classifier(
        name="right", llm=LLM(provider="openai", model="panel"), choices=choices,
        prompt_template="Question: {input}\nAnswer: {output}\nHow good is the answer?",
    )
    [found] = classifier.evaluate(CASE)
    return found


@report.step("classifier")
def _():
    found = classified(good=1.0, bad=0.0)
    return report.expect(found.label == "good", found.to_dict())


@report.step("a label a judge")
def _():
    # Without a majority the first judge's label counts, as long as all have voted.
    found = classified(good=1.0, fair=0.5, bad=0.0) if report.IS_SCRIPTED_PANEL else None
    return report.expect(found is None or found.label == "good", found and found.to_dict())


report.end()
