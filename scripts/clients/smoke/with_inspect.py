"""Inspect: model-graded scorers, with the panel as the only grader and as one of three. The solver is Inspect's own mock."""

import report

# docs: begin
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import model_graded_qa

panel = get_model("openai-api/panel/panel")
task = Task(
    dataset=[Sample(input="What is the capital of Peru?", target="Lima")],
    scorer=model_graded_qa(model=panel),
)
[log] = eval(task, model="mockllm/model")
print(log.samples[0].scores["model_graded_qa"].value)
# docs: end

from inspect_ai.model import GenerateConfig, ModelOutput
from inspect_ai.scorer import model_graded_fact
from inspect_ai.solver import generate

# Inspect waits long and asks often; a test must not.
IMPATIENT = GenerateConfig(max_retries=1, timeout=60)


def graded(scorer):
    answers = [ModelOutput.from_content("mockllm/model", "The capital of France is Paris.")]
    case = Task(dataset=[Sample(input="What is the capital of France?", target="Paris")], solver=generate(), scorer=scorer)
    [found] = eval(case, model=get_model("mockllm/model", custom_outputs=answers))
    assert found.status == "success", found.error
    [score] = found.samples[0].scores.values()
    assert score.value in ("C", "P", "I", 1, 1.0), score
    return report.expect(score.value in ("C", 1, 1.0), {"value": score.value, "explanation": score.explanation})


@report.step("as documented")
def _():
    assert log.status == "success", log.error
    score = log.samples[0].scores["model_graded_qa"]
    return report.expect(score.value == "C", {"value": score.value, "explanation": score.explanation})


judge = get_model("openai-api/panel/panel", config=IMPATIENT)
# Through /v1/responses, after a request that finds out whether that is there.
by_responses = get_model("openai/panel", config=IMPATIENT)
for name, scorer in {
    "fact": model_graded_fact(model=judge),
    "partial credit": model_graded_qa(model=judge, partial_credit=True),
    "one of three": model_graded_qa(model=[judge, judge, judge]),
    "responses": model_graded_qa(model=by_responses),
}.items():

    @report.step(name)
    def _():
        return graded(scorer)


report.end()
