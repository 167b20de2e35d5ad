"""MLflow: judges made here and one of its own, with a strict schema whose verdict comes first."""

import report

# docs: begin
import os

from mlflow.genai.judges import make_judge

judge = make_judge(
    name="right",
    instructions="Is {{ outputs }} the right answer to {{ inputs }}?",
    model="openai:/panel",
    feedback_value_type=bool,
    # MLflow takes this as the whole address.
    base_url=os.environ["OPENAI_BASE_URL"] + "/chat/completions",
)
feedback = judge(inputs={"question": "What is the capital of Peru?"}, outputs={"answer": "It is Lima."})
print(feedback.value, feedback.rationale)
# docs: end
report.documented()

from typing import Literal

CASE = {"inputs": {"question": "What is the capital of France?"}, "outputs": {"answer": "It is Paris."}}


@report.step("flag")
def _():
    return report.expect(feedback.value is True, [feedback.value, feedback.rationale])


for kind, is_approved in {
    int: lambda value: value >= 3,
    float: lambda value: value >= 0.5,
    Literal["good", "bad"]: lambda value: value == "good",
    dict[str, int]: lambda value: value["quality"] >= 3,
}.items():

    @report.step(str(kind))
    def _():
        made = make_judge(
            name="right", instructions="How good is {{ outputs }} as an answer to {{ inputs }}?", model="openai:/panel",
            feedback_value_type=kind, base_url=os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        )
        found = made(**CASE)
        assert found.error is None, found.error
        return report.expect(is_approved(found.value), [found.value, found.rationale])


# docs: begin decisions
judge = make_judge(
    name="right",
    instructions="Is {{ outputs }} the right answer to {{ inputs }}?",
    model="openai:/panel",
    feedback_value_type=bool,
    model_api="decisions",
    # Here it is the address as the SDK takes it.
    base_url=os.environ["OPENAI_BASE_URL"],
)
# docs: end


@report.step("decisions")
def _():
    if not report.IS_TRIBUNAL:
        return "not of a single judge"
    found = judge(**CASE)
    assert found.error is None, found.error
    return report.expect(found.value is True, found.metadata)


report.end()
