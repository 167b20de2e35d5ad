#!/usr/bin/env python3
"""Drill: a panel through the real vLLM that `scripts/local-vllm` started. Structure is checked, never opinions.

Log-probabilities are used where they are asked for, vLLM holds every answer to its form, both orders of a pair are asked; a case
that is too long, a model that is not there and a server that ends in mid-run are missing votes with their reason, and no numbers.
"""

import argparse
import subprocess
import time

import stage

MODEL = "smollm2-135m"
JUDGES = {
    # Held to the labels by `structured_outputs`, and weighted by their probabilities.
    "weighted": {"template": "direct", "scoring": "expected", "params": {"temperature": 0, "max_tokens": 8, "seed": 7}},
    # Held to a JSON Schema. The reason is at most 600 characters long, so 600 tokens are enough for all of it.
    "structured": {"template": "g-eval", "scoring": "discrete", "params": {"temperature": 0.3, "max_tokens": 600, "seed": 11}},
    "plain": {"template": "direct", "scoring": "discrete", "params": {"temperature": 0.7, "max_tokens": 8, "seed": 13}},
}
SCORING = {name: judge["scoring"] for name, judge in JUDGES.items()}
CASES = [
    {"id": "capital", "input": "What is the capital of Peru?", "output": "Lima."},
    {"id": "sum", "input": "What is 7 + 5?", "output": "11"},
    {"id": "boils", "input": "At how many degrees Celsius does water boil?", "output": "At 90.", "reference": "100 at sea level"},
    {"id": "pair", "input": "Name a prime number.", "a": "Nine.", "b": "Seven."},
]
# vLLM is started with room for 2,048 tokens.
LONG = {"id": "long", "input": "What is this about?", "output": "The river rose again last night. " * 600}
MANY = [{"id": f"case-{number:03}", "input": f"What is {number} + 1?", "output": str(number + 1)} for number in range(200)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tribunal", required=True)
    parser.add_argument("--vllm-port", type=int, default=18081)
    parser.add_argument("--keep-server", action="store_true", help="do not end the server, and leave out what that would show")
    options = parser.parse_args()
    port = options.vllm_port
    began = time.monotonic()
    with stage.Stage(options.tribunal) as here:
        here.write_panel(panel(port, JUDGES))
        probe(here)
        judge_all_modes(here)
        refuse_what_is_too_long(here)
        ask_for_no_model(here, port)
        if options.keep_server:
            print(f"NOT checked: a server that ends in mid-run, because the one on port {port} is not ours to end")
        else:
            end_the_server(here, port)
    print(f"vLLM: {time.monotonic() - began:.0f} s")


def panel(port, judges):
    return {
        "store": "drill.db",
        "servers": {"gpu": {"provider": "vllm", "base_url": f"http://127.0.0.1:{port}/v1", "limits": {"concurrency": 4}}},
        "judges": {name: {"server": "gpu", "model": MODEL, "family": "smollm", **judge} for name, judge in judges.items()},
        "rubrics": {"quality": stage.RUBRIC},
        "panels": {"default": {"judges": list(judges), "rubric": "quality", "deadline": {"attempt": "300s", "case": "900s", "grace": "300s"}}},
    }


def probe(here):
    [report] = stage.parsed(here.run("check", "--probe", "--json", "-c", "panel.yaml"))
    stage.check({probe["judge"] for probe in report["probes"]} == set(JUDGES), f"probed: {report['probes']}")
    for probed in report["probes"]:
        found = {key: probed[key] for key in ("is_answering", "logprobs", "structured_output", "model", "dropped")}
        expected = {"is_answering": True, "logprobs": True, "structured_output": True, "model": MODEL, "dropped": []}
        stage.check(found == expected, f"probe of {probed['judge']}: {probed}")
    print(f"probe: {len(report['probes'])} judges give log-probabilities and structured output")


def judge_all_modes(here):
    verdicts = judge(here, CASES)
    for verdict in verdicts:
        criterion = verdict["criteria"]["quality"]
        # vLLM holds an answer to its form, so that there is none that cannot be read.
        stage.check(not criterion["abstentions"], f"{verdict['case']}: missing: {criterion['abstentions']}")
        stage.check(criterion["value"] is not None or criterion.get("undefined") == "no_majority", f"{verdict['case']}: {criterion}")
        for vote in criterion["votes"]:
            wanted = SCORING[vote["judge"]]
            stage.check(vote["scoring"] == wanted and not vote.get("fallback"), f"{verdict['case']}: asked for `{wanted}`: {vote}")
            has_mass = 0 < vote.get("label_mass", 0) <= 1.000001
            stage.check(has_mass == (wanted == "expected"), f"{verdict['case']}: share of probability on labels: {vote}")
            stage.check(("order_consistent" in vote) == (verdict["mode"] == "pairwise"), f"{verdict['case']}: {vote}")
    modes = {verdict["mode"] for verdict in verdicts}
    stage.check(modes == {"pointwise", "reference", "pairwise"}, f"modes {modes}")
    judgments = here.judgments()
    verify_calls(judgments)
    print(f"{len(verdicts)} cases in {len(modes)} modes: {len(judgments)} calls, each answered in its form")


def verify_calls(judgments):
    """Each judge once a case, and twice for a pair, in two orders; the model that answered is known, and what it wrote is kept."""
    orders = {}
    for judgment in judgments:
        orders.setdefault((judgment["case"], judgment["judge"]), []).append(judgment["order"])
        stage.check(judgment["source"] == "asked" and not judgment["repaired"], f"asked again, or not at all: {judgment}")
        stage.check(judgment["model"] == MODEL, f"`{judgment['model']}` answered: {judgment}")
        stage.check(judgment["prompt_tokens"] and judgment["completion_tokens"], f"tokens were not counted: {judgment}")
        if JUDGES[judgment["judge"]]["template"] == "direct":
            labels = ("A", "B", "tie") if judgment["case"] == "pair" else ("1", "2", "3", "4", "5")
            stage.check(judgment["raw"] in labels, f"not one of {labels}: {judgment}")
    for case in CASES:
        for name in JUDGES:
            asked = orders.get((case["id"], name), [])
            stage.check(len(asked) == len(set(asked)) == (2 if "a" in case else 1), f"{case['id']}, {name}: asked in the orders {asked}")


def refuse_what_is_too_long(here):
    # 2, not 69: the server was there, and said no.
    [verdict] = judge(here, [LONG], codes=(2,))
    verify_missing(verdict, "too_long")
    print("too long: no vote, and nothing was cut")


def ask_for_no_model(here, port):
    here.write_panel(panel(port, {name: {**judge, "model": "no-such-model"} for name, judge in JUDGES.items()}))
    [verdict] = judge(here, CASES[:1], codes=(69,))
    verify_missing(verdict, "unavailable")
    shown = here.run("show", "last", "--case", verdict["case"], "-c", "panel.yaml")
    stage.check("unavailable" in shown and "no-such-model" in shown, f"`show` does not say which model is missing:\n{shown}")
    print("no such model: no vote, and `show` says why")


def end_the_server(here, port):
    """In mid-run, and for good. Judges that write one word, so that votes come in before and after."""
    brief = {"template": "direct", "scoring": "discrete", "params": {"temperature": 0.3, "max_tokens": 8, "seed": 17}}
    here.write_panel(panel(port, {**JUDGES, "structured": brief}))
    here.write_lines("cases.jsonl", MANY)
    many = {case["id"] for case in MANY}
    running = here.start("judge", "cases.jsonl", "-c", "panel.yaml", "-o", "verdicts.jsonl", "--quiet", "--no-cache", "-j", "2")
    try:
        # The output file appears when the run is over; judgments are stored as they arrive. Before the first, the newest run is another.
        stage.wait_until(lambda: sum(judgment["case"] in many for judgment in here.judgments()) >= 9 or running.poll() is not None,
                         "nine judgments", limit_s=300)
        subprocess.run([stage.ROOT / "scripts" / "local-vllm", "stop", "--port", str(port)], check=True)
        code = running.wait(timeout=300)
    finally:
        running.kill()
        running.wait()
    stage.check(code == 0, f"ended with {code}: {(here.folder / 'tribunal.log').read_text(encoding='utf-8')[-2000:]}")
    verdicts = here.lines("verdicts.jsonl")
    stage.check(len(verdicts) == len(MANY), f"{len(verdicts)} verdicts of {len(MANY)}")
    for verdict in verdicts:
        criterion = verdict["criteria"]["quality"]
        heard_of = sorted(entry["judge"] for entry in criterion["votes"] + criterion["abstentions"])
        stage.check(heard_of == sorted(JUDGES), f"{verdict['case']}: heard of {heard_of}")
        others = [abstention for abstention in criterion["abstentions"] if abstention["kind"] != "unavailable"]
        stage.check(not others, f"{verdict['case']}: {others}")
        has_quorum = len(criterion["votes"]) >= verdict["quorum"]["required"]
        stage.check((criterion["value"] is not None) == has_quorum, f"{verdict['case']}: {criterion}")
        stage.check(has_quorum or (criterion["undefined"] == "no_quorum" and verdict["escalated"]), f"{verdict['case']}: {criterion}")
    without = sum(verdict["criteria"]["quality"]["value"] is None for verdict in verdicts)
    stage.check(0 < without < len(MANY), f"{without} of {len(MANY)} cases without a value: the server did not end in mid-run")
    print(f"the server ended in mid-run: {len(MANY) - without} cases have a value, {without} have none, nothing between")


def judge(here, cases, codes=(0,)):
    here.write_lines("cases.jsonl", cases)
    here.run("judge", "cases.jsonl", "-c", "panel.yaml", "-o", "verdicts.jsonl", "--by-mode", "--quiet", codes=codes, timeout_s=1200)
    verdicts = here.lines("verdicts.jsonl")
    stage.check([verdict["case"] for verdict in verdicts] == [case["id"] for case in cases], f"verdicts for {[v['case'] for v in verdicts]}")
    return verdicts


def verify_missing(verdict, kind):
    criterion = verdict["criteria"]["quality"]
    kinds = {abstention["judge"]: abstention["kind"] for abstention in criterion["abstentions"]}
    stage.check(kinds == dict.fromkeys(JUDGES, kind), f"{verdict['case']}: expected `{kind}` of all: {criterion}")
    stage.check(criterion["value"] is None and not criterion["votes"] and verdict["escalated"], f"{verdict['case']}: a value from nothing: {criterion}")


if __name__ == "__main__":
    main()
