"""ragas: metrics that put the schema into the prompt, and embeddings through the same endpoint."""

import asyncio

import report

# docs: begin
import asyncio

from openai import AsyncOpenAI
from ragas.llms import llm_factory
from ragas.metrics.collections import Faithfulness

panel = llm_factory("panel", client=AsyncOpenAI())
verdict = asyncio.run(
    Faithfulness(llm=panel).ascore(
        user_input="What is the capital of Peru?",
        response="The capital of Peru is Lima.",
        retrieved_contexts=["Peru is a country in South America. Its capital is Lima."],
    )
)
print(verdict.value)
# docs: end

from langchain_openai import ChatOpenAI
from ragas import SingleTurnSample
from ragas.embeddings.base import embedding_factory
from ragas.llms import LangchainLLMWrapper
from ragas.metrics import AspectCritic
from ragas.metrics.collections import (
    AnswerAccuracy, AnswerCorrectness, AnswerRelevancy, ContextPrecision, ContextRecall, DomainSpecificRubrics,
)

CASE = {"user_input": "What is the capital of France?", "response": "The capital of France is Paris."}
REFERENCE = {"reference": "The capital of France is Paris."}
CONTEXT = {"retrieved_contexts": ["France is a country in Europe. Its capital is Paris."]}
QUESTION = {"user_input": CASE["user_input"]}


def model():
    return llm_factory("panel", client=AsyncOpenAI())


def embeddings():
    return embedding_factory("openai", model="embedder", client=AsyncOpenAI())


def least(share, metric, **case):
    found = asyncio.run(metric.ascore(**case)).value
    assert 0 <= found <= 5, found
    return report.expect(found >= share, found)


@report.step("faithfulness")
def _():
    return report.expect(verdict.value == 1, verdict.value)


@report.step("answer accuracy")
def _():
    return least(0.5, AnswerAccuracy(llm=model()), **CASE, **REFERENCE)


@report.step("context precision")
def _():
    return least(0.9, ContextPrecision(llm=model()), **QUESTION, **REFERENCE, **CONTEXT)


@report.step("context recall")
def _():
    return least(1, ContextRecall(llm=model()), **QUESTION, **REFERENCE, **CONTEXT)


@report.step("rubric")
def _():
    return least(4, DomainSpecificRubrics(llm=model()), **CASE, **REFERENCE)


@report.step("answer correctness")
def _():
    return least(0.9, AnswerCorrectness(llm=model(), embeddings=embeddings()), **CASE, **REFERENCE)


@report.step("answer relevancy")
def _():
    return least(0.9, AnswerRelevancy(llm=model(), embeddings=embeddings()), **CASE)


@report.step("aspect critic of the older kind")
def _():
    critic = AspectCritic(name="right", definition="Is the response right?", llm=LangchainLLMWrapper(ChatOpenAI(model="panel")))
    found = asyncio.run(critic.single_turn_ascore(SingleTurnSample(**CASE)))
    return report.expect(found == 1, found)


report.end()
