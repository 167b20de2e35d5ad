"""LiteLLM's SDK: the panel as a model of an OpenAI-compatible provider."""

import asyncio
import json

from pydantic import BaseModel

import report

CASE = "Question: What is the capital of France?\nReference: Paris\nSubmission: It is Paris.\n"

# docs: begin
import litellm

answer = litellm.completion(
    model="openai/panel",
    messages=[{"role": "user", "content": "Is Lima the capital of Peru? End with a line 'GRADE: C' or 'GRADE: I'."}],
)
print(answer.choices[0].message.content)
# docs: end


class Judgement(BaseModel):
    reasoning: str
    score: int


def ask(question, **further):
    messages = [{"role": "user", "content": CASE + question}]
    return asyncio.run(litellm.acompletion(model="openai/panel", messages=messages, **further))


@report.step("label at the end")
def _():
    text = answer.choices[0].message.content
    return report.expect(text.endswith("GRADE: C"), text)


@report.step("JSON by example")
def _():
    found = json.loads(
        ask('Answer as JSON {"reason": str, "pass": bool, "score": 0..1}.', response_format={"type": "json_object"})
        .choices[0].message.content
    )
    return report.expect(found["pass"] is True, found)


@report.step("schema")
def _():
    found = json.loads(ask("Judge it; score 1 to 5.", response_format=Judgement).choices[0].message.content)
    return report.expect(found["score"] >= 3, found)


@report.step("log-probabilities")
def _():
    found = ask("Is it correct? Answer yes or no.", logprobs=True, top_logprobs=5, max_tokens=1).choices[0].logprobs
    return {entry.token: entry.logprob for entry in found.content[-1].top_logprobs}


@report.step("stream")
def _():
    async def joined():
        messages = [{"role": "user", "content": CASE + "Is it correct? Answer yes or no."}]
        events = await litellm.acompletion(model="openai/panel", messages=messages, stream=True)
        return "".join([event.choices[0].delta.content or "" async for event in events])

    text = asyncio.run(joined())
    return report.expect(text == "yes", text)


@report.step("responses")
def _():
    async def asked():
        return await litellm.aresponses(model="openai/panel", input=CASE + "Is it correct? Answer yes or no.")

    text = asyncio.run(asked()).output[0].content[0].text
    return report.expect(text == "yes", text)


report.end()
