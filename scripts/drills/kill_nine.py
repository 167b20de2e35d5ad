#!/usr/bin/env python3
"""Drill: kill -9 at three points of one run, resume each time, and compare with what was stored at each death.

Nothing stored is asked again or changes, and nothing is missing at the end. Only calls that were in flight, and replies that
sat in the open batch, may be repeated.
"""

import argparse
import json
import re
import signal

import stage

JUDGES = ("strict", "plain", "mild")
CONCURRENCY = 8
# Where the run is killed, as shares of all calls.
KILL_AT = (0.2, 0.5, 0.8)
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
        resume = ()
        deaths = []
        for share in KILL_AT:
            allowed = kill_at(here, judge, int(wanted * share), resume)
            deaths.append(Death(stored(here), dict(judge.calls), allowed))
            resume = ("--resume", "last")
        here.run("judge", "cases.jsonl", "-c", "panel.yaml", "-o", "verdicts.jsonl", "--quiet", *resume)
        verify(here, judge, count, deaths)
        kept = ", ".join(str(len(death.stored)) for death in deaths)
        print(f"{count} cases, killed three times with {kept} of {wanted} judgments stored: "
              f"{judge.repeated()} calls in flight were repeated, nothing stored was asked again, nothing is lost")


class Death:
    """What was there when the process died."""

    def __init__(self, stored, calls, allowed):
        self.stored, self.calls, self.allowed = stored, calls, allowed


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


def kill_at(here, judge, calls, resume):
    """Starts or resumes the run and kills it after so many answered calls; returns how many may be repeated."""
    run = here.start("judge", "cases.jsonl", "-c", "panel.yaml", "-o", "verdicts.jsonl", "--quiet", *resume)
    try:
        stage.wait_until(lambda: judge.answered() >= calls or run.poll() is not None, f"{calls} calls")
        stage.check(run.poll() is None, f"the run ended before it could be killed:\n{(here.folder / 'tribunal.log').read_text()[-4000:]}")
        run.send_signal(signal.SIGKILL)
    finally:
        run.kill()
        run.wait()
    in_flight = judge.in_flight
    stage.wait_until(lambda: judge.in_flight == 0, "the last calls of the killed run")
    return in_flight + CONCURRENCY + OPEN_BATCH


def stored(here):
    """Stored judgments by case and judge, as whole lines."""
    return {(line["case"], line["judge"]): json.dumps(line, sort_keys=True) for line in here.judgments()}


def asked_about(body):
    """The case and judge of a request."""
    request = json.loads(body)
    number = re.search(r"Answer number (\d+)\.", request["messages"][-1]["content"])
    return f"case-{int(number.group(1)):04}", request["model"].removeprefix("stand-in-")


def verify(here, judge, count, deaths):
    final = stored(here)
    stage.check(len(final) == count * len(JUDGES), f"{len(final)} judgments are stored, expected {count * len(JUDGES)}")
    stage.check(all(json.loads(line)["value"] is not None for line in final.values()), "a judgment has no value")
    for death in deaths:
        stage.check(death.stored, "nothing was stored before a kill: the drill proves nothing")
        changed = [key for key, line in death.stored.items() if final.get(key) != line]
        stage.check(not changed, f"stored before a kill and lost or changed after it: {changed[:5]}")
        again = [asked_about(body) for body, calls in judge.calls.items() if calls > death.calls.get(body, 0)]
        repeated = [key for key in again if key in death.stored]
        stage.check(not repeated, f"stored before a kill and asked again after it: {repeated[:5]}")
    allowed = sum(death.allowed for death in deaths)
    stage.check(judge.repeated() <= allowed, f"{judge.repeated()} calls were repeated, at most {allowed} may be")
    verdicts = [line["case"] for line in here.lines("verdicts.jsonl")]
    stage.check(sorted(verdicts) == sorted(case(number)["id"] for number in range(count)), f"{len(verdicts)} verdict lines, expected one a case")


if __name__ == "__main__":
    main()
