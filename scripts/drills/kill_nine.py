#!/usr/bin/env python3
"""Drill: kill -9 in the middle of a run, resume, and count. Nothing stored is asked again, and nothing is missing.

A kill may repeat the calls that were in flight and those whose replies sat in the open batch; no others.
"""

import argparse
import signal

import stage

JUDGES = ("strict", "plain", "mild")
CONCURRENCY = 8
# Replies that had been read and not yet committed when the process died.
OPEN_BATCH = 32


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tribunal", required=True)
    parser.add_argument("--full", action="store_true", help="500 cases instead of 60")
    options = parser.parse_args()
    count = 500 if options.full else 60
    judge = stage.StandInJudge(delay_s=0.02)
    with stage.Stage(options.tribunal) as here:
        here.write_panel(panel(judge.base_url))
        here.write_lines("cases.jsonl", [case(number) for number in range(count)])
        wanted = count * len(JUDGES)
        in_flight = kill_in_the_middle(here, judge, wanted)
        before = judge.answered()
        here.run("judge", "cases.jsonl", "-c", "panel.yaml", "-o", "verdicts.jsonl", "--resume", "last", "--quiet")
        verify(here, judge, count, in_flight)
        print(f"kill -9 after {before} of {wanted} calls, {in_flight} in flight: {judge.repeated()} repeated, nothing lost")


def panel(base_url):
    return {
        "store": "drill.db",
        "servers": {"stand-in": {"provider": "openai_compatible", "base_url": base_url, "perimeter": "inside",
                                 "limits": {"concurrency": CONCURRENCY}}},
        "judges": {name: {"server": "stand-in", "model": f"stand-in-{name}", "family": f"family-{name}"} for name in JUDGES},
        "rubrics": {"quality": stage.RUBRIC},
        "panels": {"default": {"judges": list(JUDGES), "rubric": "quality"}},
    }


def case(number):
    return {"id": f"case-{number:04}", "input": f"Question {number}?", "output": f"Answer number {number}."}


def kill_in_the_middle(here, judge, wanted):
    """Starts the run, kills it after a third of its calls, and returns how many calls were in flight then."""
    run = here.start("judge", "cases.jsonl", "-c", "panel.yaml", "-o", "verdicts.jsonl", "--quiet")
    try:
        stage.wait_until(lambda: judge.answered() >= wanted // 3 or run.poll() is not None, "a third of the calls")
        stage.check(run.poll() is None, f"the run ended before it could be killed:\n{(here.folder / 'tribunal.log').read_text()[-4000:]}")
        run.send_signal(signal.SIGKILL)
    finally:
        run.kill()
        run.wait()
    in_flight = judge.in_flight
    stage.wait_until(lambda: judge.in_flight == 0, "the last calls of the killed run")
    return in_flight


def verify(here, judge, count, in_flight):
    judgments = here.judgments()
    keys = {(line["case"], line["judge"], line.get("criterion"), line.get("order"), line.get("sample")) for line in judgments}
    stage.check(len(keys) == len(judgments), "a judgment is stored twice")
    stage.check(len(keys) == count * len(JUDGES), f"{len(keys)} judgments are stored, expected {count * len(JUDGES)}")
    stage.check(all(line.get("value") is not None for line in judgments), "a judgment has no value")
    allowed = in_flight + CONCURRENCY + OPEN_BATCH
    stage.check(judge.repeated() <= allowed, f"{judge.repeated()} calls were repeated, at most {allowed} may be")
    verdicts = [line["case"] for line in here.lines("verdicts.jsonl")]
    stage.check(len(set(verdicts)) == count, f"{len(set(verdicts))} cases have a verdict, expected {count}")
    stage.check(len(verdicts) == len(set(verdicts)), "a case has two verdicts in the output")


if __name__ == "__main__":
    main()
