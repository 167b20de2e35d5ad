"""DeepEval: GEval, statement metrics and an arena, asked in the three ways that it chooses by a model's name."""

import report

# docs: begin
from deepeval.metrics import GEval
from deepeval.models import GPTModel
from deepeval.test_case import LLMTestCase, SingleTurnParams

panel = GPTModel(model="panel", cost_per_input_token=0, cost_per_output_token=0)
metric = GEval(
    name="Correctness",
    criteria="Is the actual output correct given the expected output?",
    evaluation_params=[SingleTurnParams.ACTUAL_OUTPUT, SingleTurnParams.EXPECTED_OUTPUT],
    model=panel,
)
case = LLMTestCase(input="What is the capital of Peru?", actual_output="It is Lima.", expected_output="Lima")
metric.measure(case)
print(metric.score, metric.reason)
# docs: end

from deepeval.metrics import AnswerRelevancyMetric, ArenaGEval, BiasMetric, FaithfulnessMetric, HallucinationMetric
from deepeval.test_case import ArenaTestCase, Contestant

CASE = LLMTestCase(
    input="What is the capital of France?", actual_output="The capital of France is Paris.", expected_output="Paris",
    retrieval_context=["France is a country in Europe. Its capital is Paris."], context=["France's capital is Paris."],
)


@report.step("criteria")
def _():
    return report.expect(metric.score >= 0.5, {"score": metric.score, "reason": metric.reason})


# `gpt-4o` is asked for log-probabilities, `gpt-5-mini` for a schema.
for model in ("panel", "gpt-4o", "gpt-5-mini"):

    @report.step(f"steps, {model}")
    def _():
        by_steps = GEval(
            name="Correctness", evaluation_steps=["Compare the city named with the expected one."],
            evaluation_params=[SingleTurnParams.ACTUAL_OUTPUT, SingleTurnParams.EXPECTED_OUTPUT], async_mode=False,
            model=GPTModel(model=model, cost_per_input_token=0, cost_per_output_token=0),
        )
        by_steps.measure(CASE, _show_indicator=False)
        return report.expect(by_steps.is_successful(), {"score": by_steps.score, "reason": by_steps.reason})


for kind in (AnswerRelevancyMetric, FaithfulnessMetric, HallucinationMetric, BiasMetric):

    @report.step(kind.__name__)
    def _():
        by_statements = kind(model=panel, async_mode=False)
        by_statements.measure(CASE, _show_indicator=False)
        return report.expect(by_statements.is_successful(), {"score": by_statements.score, "reason": by_statements.reason})


@report.step("arena")
def _():
    arena = ArenaGEval(
        name="Better", criteria="Pick the answer that is correct.", model=panel, async_mode=False,
        evaluation_params=[SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT],
    )
    answers = {"one": "Paris.", "two": "Lyon."}
    contestants = [Contestant(name=name, test_case=LLMTestCase(input=CASE.input, actual_output=text)) for name, text in answers.items()]
    arena.measure(ArenaTestCase(contestants=contestants), _show_indicator=False)
    return report.expect(arena.winner == "one", {"winner": arena.winner, "reason": arena.reason})


report.end()
