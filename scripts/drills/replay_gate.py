#!/usr/bin/env python3
"""Drill: a gate over ten thousand recorded cases, in seconds and under a memory ceiling that hardly knows their number."""

import argparse
import json
import os
import sys
import time

import stage

JUDGES = ("first", "second", "third")
HELD = {"min": {"quality": 0.45}, "pass_rate": {"quality": 0.35, "brief": 0.95}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tribunal", required=True)
    parser.add_argument("--ceiling-mb", type=int, default=96)
    parser.add_argument("--growth-mb", type=int, default=24, help="from a thousand cases to ten thousand")
    options = parser.parse_args()
    with stage.Stage(options.tribunal) as here:
        here.write_panel(panel())
        few_mb, _, _ = gate(here, 1_000, "gate", "cases.jsonl")
        peak_mb, cpu_s, wall_s = gate(here, 10_000, "gate", "cases.jsonl")
        stored_mb, stored_s, _ = gate(here, 10_000, "gate", "--run", "last")
        for what, mb in (("judging", peak_mb), ("a stored run", stored_mb)):
            stage.check(mb <= options.ceiling_mb, f"{what}: {mb:.0f} MB at the peak, at most {options.ceiling_mb} MB")
        stage.check(peak_mb - few_mb <= options.growth_mb, f"{few_mb:.0f} MB for 1000 cases, {peak_mb:.0f} MB for 10000")
        # A threshold above the mean fails, and the mean itself is an open question.
        ended(here, 1, "gate", "--run", "last", "--min", "quality=0.55")
        ended(here, 2, "gate", "--run", "last", "--min", "quality=0.5")
        print(f"gate over 10000 cases, {10_000 * len(JUDGES)} judgments: peak {peak_mb:.0f} MB ({few_mb:.0f} MB for 1000), "
              f"{cpu_s:.1f} s of CPU, {wall_s:.1f} s; the stored run again: {stored_mb:.0f} MB, {stored_s:.1f} s of CPU")


def panel():
    criterion = {**stage.RUBRIC["criteria"][0], "pass": 4}
    rubric = {"criteria": [criterion], "checks": [{"kind": "length", "name": "brief", "max": 40}]}
    return {
        "store": "drill.db",
        "servers": {"recorded": {"provider": "replay", "path": "recorded.jsonl", "read": "score"}},
        "judges": {name: {"server": "recorded", "model": name, "family": f"family-{name}", "only": {"judge": name}} for name in JUDGES},
        "rubrics": {"quality": rubric},
        "panels": {"default": {"judges": list(JUDGES), "rubric": "quality", "gate": HELD,
                               "escalate": {"disagreement": "off", "near_threshold": "off", "random_review_share": "off"}}},
    }


def gate(here, count, *arguments):
    """A gate that passes: peak memory in MB, CPU and wall time in seconds."""
    if "--run" not in arguments:
        here.write_lines("cases.jsonl", ({"id": f"c{number}", "input": "Question?", "output": f"Answer {number}.", "source": f"s{number // 2}"}
                                         for number in range(count)))
        here.write_lines("recorded.jsonl", ({"case": f"c{number}", "judge": judge, "score": number % 5 + 1}
                                            for number in range(count) for judge in JUDGES))
    begun = time.monotonic()
    usage = ended(here, 0, *arguments)
    report = json.loads((here.folder / "gate.json").read_text(encoding="utf-8"))
    run = report["runs"][0]
    stage.check(report["decision"] == "pass" and run["finished"] == count, f"{report['decision']} after {run['finished']} cases")
    counts = {own["n"] for own in run["requirements"]}
    stage.check(len(run["requirements"]) == 3 and counts == {count}, f"requirements over {sorted(counts)} cases")
    peak_mb = usage.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)
    return peak_mb, usage.ru_utime + usage.ru_stime, time.monotonic() - begun


def ended(here, code, *arguments):
    """What a gate used that ended with this exit code; its report is in `gate.json`."""
    run = here.start(*arguments, "-c", "panel.yaml", "--allow-replay", "--json", "--quiet", "--junit", "junit.xml", log="gate.log")
    _, status, usage = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    log = (here.folder / "gate.log").read_text(encoding="utf-8")
    stage.check(run.returncode == code, f"exit code {run.returncode}, expected {code}:\n{log[-4000:]}")
    lines = [line for line in log.splitlines() if line.startswith('{"decision"')]
    stage.check(len(lines) == 1, f"no report in\n{log[-4000:]}")
    (here.folder / "gate.json").write_text(lines[0], encoding="utf-8")
    return usage


if __name__ == "__main__":
    main()
