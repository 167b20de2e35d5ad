"""verdict (Haize Labs): units that call a tool, and one that reads token probabilities."""

import report

# docs: begin
from verdict import Pipeline
from verdict.common.judge import JudgeUnit
from verdict.schema import Schema

PROMPT = """
    Question: {source.question}
    Answer: {source.answer}
    Judge the answer from 1, wrong, to 5, right.
"""
pipeline = Pipeline() >> JudgeUnit(explanation=True).prompt(PROMPT).via("openai/panel", retries=1)
response, _ = pipeline.run(Schema.of(question="What is the capital of Peru?", answer="It is Lima."), display=False)
print(response)
# docs: end

from verdict.common.judge import CategoricalJudgeUnit
from verdict.extractor import TokenProbabilityExtractor
from verdict.scale import DiscreteScale

CASE = Schema.of(question="What is the capital of France?", answer="It is Paris.")


def outcome(found, name):
    [value] = [value for key, value in found.items() if key.endswith(name)]
    return value


@report.step("score")
def _():
    return report.expect(outcome(response, "score") >= 3, response)


@report.step("category")
def _():
    unit = CategoricalJudgeUnit(DiscreteScale(["yes", "no"])).prompt("Question: {source.question}\nAnswer: {source.answer}\nRight? yes or no.")
    found, _ = (Pipeline() >> unit.via("openai/panel", retries=1)).run(CASE, display=False)
    return report.expect(outcome(found, "choice") == "yes", found)


@report.step("token probabilities")
def _():
    unit = JudgeUnit().prompt(PROMPT).extract(TokenProbabilityExtractor()).via("openai/panel", retries=1, max_tokens=6, temperature=0.0)
    found, _ = (Pipeline() >> unit).run(CASE, display=False)
    distribution = outcome(found, "distribution")
    assert abs(sum(distribution.values()) - 1) < 1e-6, distribution
    return report.expect(sum(distribution[value] for value in (3, 4, 5)) > 0.5, found)


report.end()
