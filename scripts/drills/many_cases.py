#!/usr/bin/env python3
"""Drill: many recorded cases, every one with a verdict, under one memory ceiling whatever their number."""

import argparse
import json
import os
import sys

import stage

JUDGES = ("first", "second", "third")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tribunal", required=True)
    parser.add_argument("--full", action="store_true", help="a million cases instead of ten thousand")
    parser.add_argument("--ceiling-mb", type=int, default=96)
    options = parser.parse_args()
    count = 1_000_000 if options.full else 10_000
    # One judge in the full drill, so that the recorded file too has a million lines.
    judges = JUDGES[:1] if options.full else JUDGES
    with stage.Stage(options.tribunal) as here:
        here.write_panel(panel(judges))
        here.write_lines("cases.jsonl", ({"id": f"c{number}", "input": "Question?", "output": f"Answer {number}."} for number in range(count)))
        here.write_lines("recorded.jsonl", ({"case": f"c{number}", "judge": judge, "score": number % 5 + 1}
                                            for number in range(count) for judge in judges))
        run = here.start("judge", "cases.jsonl", "-c", "panel.yaml", "-o", "verdicts.jsonl", "--quiet")
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        stage.check(run.returncode == 0, f"exit code {run.returncode}:\n{(here.folder / 'tribunal.log').read_text()[-4000:]}")
        found = with_value(here)
        stage.check(found == count, f"{found} of {count} cases have a value")
        peak_mb = usage.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)
        stage.check(peak_mb <= options.ceiling_mb, f"{peak_mb:.0f} MB at the peak, at most {options.ceiling_mb} MB")
        cpu_s = usage.ru_utime + usage.ru_stime
        print(f"{count} cases, {count * len(judges)} judgments: peak {peak_mb:.0f} MB, {cpu_s:.1f} s of CPU")


def panel(judges):
    return {
        "store": "drill.db",
        "servers": {"recorded": {"provider": "replay", "path": "recorded.jsonl", "read": "score"}},
        "judges": {name: {"server": "recorded", "model": name, "family": f"family-{name}", "only": {"judge": name}} for name in judges},
        "rubrics": {"quality": stage.RUBRIC},
        "panels": {"default": {"judges": list(judges), "rubric": "quality"}},
    }


def with_value(here):
    """Counted line by line: the drill itself must not hold a million verdicts either."""
    cases = 0
    with open(here.folder / "verdicts.jsonl", encoding="utf-8") as file:
        for line in file:
            criteria = json.loads(line)["criteria"]
            cases += all(criterion.get("value") is not None for criterion in criteria.values())
    return cases


if __name__ == "__main__":
    main()
