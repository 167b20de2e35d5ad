"""pydantic-evals: the LLMJudge of a data set, which calls one strict tool."""

import asyncio

import report

# docs: begin
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import LLMJudge

judge = LLMJudge(rubric="The output names the capital of the country.", model="openai-chat:panel", include_input=True)
cases = [Case(name="peru", inputs="What is the capital of Peru?")]
dataset = Dataset(name="capitals", cases=cases, evaluators=[judge])
result = dataset.evaluate_sync(lambda question: "It is Lima.", progress=False)
[case] = result.cases
print(case.assertions["LLMJudge"].value, case.assertions["LLMJudge"].reason)
# docs: end

from pydantic_evals.evaluators.llm_as_a_judge import judge_input_output, judge_output


@report.step("data set")
def _():
    found = case.assertions["LLMJudge"]
    return report.expect(found.value is True, {"value": found.value, "reason": found.reason})


@report.step("output")
def _():
    found = asyncio.run(judge_output("It is Paris.", "The output names Paris.", "openai-chat:panel"))
    return report.expect(found.pass_ and found.score >= 0.5, found.model_dump())


@report.step("input and output")
def _():
    rubric = "The output answers the question."
    found = asyncio.run(judge_input_output("What is the capital of France?", "It is Paris.", rubric, "openai-chat:panel"))
    return report.expect(found.pass_ and found.score >= 0.5, found.model_dump())


report.end()
