"""Ask a panel from pytest: `tribunal serve` runs, `pip install pytest openai`."""

import pytest
from openai import OpenAI

panel = OpenAI(base_url="http://127.0.0.1:4600/v1", api_key="local")


@pytest.mark.parametrize("question, answer", [("What is the capital of France?", "Paris.")])
def test_answer_passes(question, answer):
    verdict = panel.post("/verdicts", cast_to=object, body={"case": {"input": question, "output": answer}})
    assert verdict["quorum"]["met"], verdict
    assert all(criterion["passed"] for criterion in verdict["criteria"].values()), verdict
