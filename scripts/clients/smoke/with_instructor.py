"""instructor: one model of the answer, asked for as a tool, as a schema, and as JSON in text."""

from typing import Literal

import report

# docs: begin
import instructor
from openai import OpenAI
from pydantic import BaseModel, Field


class Judgement(BaseModel):
    reasoning: str
    verdict: Literal["correct", "incorrect"]
    score: int = Field(ge=1, le=5)


judge = instructor.from_openai(OpenAI())
judgement = judge.chat.completions.create(
    model="panel",
    response_model=Judgement,
    messages=[{"role": "user", "content": "Question: What is the capital of Peru? Answer: Lima. Judge the answer."}],
)
print(judgement.verdict, judgement.score)
# docs: end

CASE = [{"role": "user", "content": "Question: What is the capital of France? Answer: Paris. Judge the answer."}]


@report.step("tool")
def _():
    return report.expect(judgement.verdict == "correct" and judgement.score >= 3, judgement.model_dump())


for mode in (instructor.Mode.JSON, instructor.Mode.JSON_SCHEMA, instructor.Mode.MD_JSON):

    @report.step(mode.name)
    def _():
        asked = instructor.from_openai(OpenAI(), mode=mode)
        found = asked.chat.completions.create(model="panel", response_model=Judgement, messages=CASE, max_retries=0)
        return report.expect(found.verdict == "correct" and found.score >= 3, found.model_dump())


report.end()
