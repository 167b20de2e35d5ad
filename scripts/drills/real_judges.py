#!/usr/bin/env python3
"""Drill: a tiny panel through the real llama.cpp server that `scripts/local-judges` started. Structure is checked, never opinions."""

import argparse

import stage

JUDGES = ("strict", "plain", "mild")
CASES = [
    {"id": "capital", "input": "What is the capital of Peru?", "output": "Lima."},
    {"id": "sum", "input": "What is 7 + 5?", "output": "11"},
    {"id": "pair", "input": "Name a prime number.", "a": "Nine.", "b": "Seven."},
]
# Kinds of abstention that would mean that the judge was not reached, or not asked as it should be.
NOT_REACHED = {"unavailable", "timed_out", "rate_limited", "over_budget", "excluded", "too_long"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tribunal", required=True)
    parser.add_argument("--judges-port", type=int, default=18080)
    options = parser.parse_args()
    with stage.Stage(options.tribunal) as here:
        here.write_panel(panel(options.judges_port))
        here.write_lines("cases.jsonl", CASES)
        here.run("check", "-c", "panel.yaml")
        # 2: a judge this small may write nothing that can be read, and that is not a fault of ours.
        here.run("judge", "cases.jsonl", "-c", "panel.yaml", "-o", "verdicts.jsonl", "--by-mode", "--quiet", codes=(0, 2))
        verdicts = {verdict["case"]: verdict for verdict in here.lines("verdicts.jsonl")}
        stage.check(set(verdicts) == {case["id"] for case in CASES}, f"verdicts for {sorted(verdicts)}")
        voices = sum(verify(verdict) for verdict in verdicts.values())
        print(f"{len(verdicts)} cases through llama.cpp: {voices} votes of {len(CASES) * len(JUDGES)} could be read")


def panel(port):
    return {
        "store": "drill.db",
        "servers": {"local": {"provider": "llama_cpp", "base_url": f"http://127.0.0.1:{port}/v1", "limits": {"concurrency": 4}}},
        "judges": {
            name: {"server": "local", "model": "smollm2-135m", "family": "smollm",
                   "params": {"temperature": temperature, "max_tokens": 96, "seed": 7}}
            for name, temperature in zip(JUDGES, (0, 0.3, 0.7))
        },
        "rubrics": {"quality": stage.RUBRIC},
        "panels": {"default": {"judges": list(JUDGES), "rubric": "quality", "deadline": {"attempt": "300s", "case": "900s", "grace": "300s"}}},
    }


def verify(verdict):
    """Every judge is heard or accounted for, in every criterion. Returns the number of votes."""
    votes = 0
    for name, criterion in verdict["criteria"].items():
        heard = [vote["judge"] for vote in criterion["votes"]]
        missing = [abstention["judge"] for abstention in criterion["abstentions"]]
        stage.check(sorted(heard + missing) == sorted(JUDGES), f"{verdict['case']}, {name}: heard {heard}, missing {missing}")
        unreached = [abstention for abstention in criterion["abstentions"] if abstention["kind"] in NOT_REACHED]
        stage.check(not unreached, f"{verdict['case']}, {name}: not reached: {unreached}")
        votes += len(heard)
    stage.check(verdict["quorum"]["asked"] == len(JUDGES), f"{verdict['case']}: asked {verdict['quorum']['asked']}")
    return votes


if __name__ == "__main__":
    main()
