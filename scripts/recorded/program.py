"""Running Tribunal over prepared inputs, and reading what it writes."""

import json
import subprocess

# A run where some judges abstained, or where no case has a value, is still a measurement.
ANSWERED = (0, 2)
ORDERS = {"ab": "ab", "as_given": "ab", "ba": "ba", "reversed": "ba", None: "ab"}


class Failed(Exception):
    """Tribunal ended with another code than a finished run has."""


def judge(program, folder):
    """Runs the panel in `folder`; returns (verdict lines, judgment lines)."""
    run(program, folder, "judge", "cases.jsonl", "-c", "panel.yaml", "-p", "recorded", "-o", "verdicts.jsonl", "--quiet")
    verdicts = [json.loads(line) for line in (folder / "verdicts.jsonl").read_text(encoding="utf-8").splitlines() if line]
    shown = run(program, folder, "show", "last", "--judgments", "--json", "-c", "panel.yaml")
    return verdicts, [json.loads(line) for line in shown.splitlines() if line]


def run(program, folder, *arguments):
    command = [str(program), *arguments]
    finished = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)
    if finished.returncode not in ANSWERED:
        raise Failed(f"`tribunal {arguments[0]}` ended with {finished.returncode}: {finished.stderr[-2000:]}")
    return finished.stdout


def reading(judgments, names):
    """(values, abstentions) of judgment lines; `names` maps a judge's id to the recorded judge's name."""
    values, abstentions = {}, {}
    for line in judgments:
        key = line["case"], names[line["judge"]], ORDERS[line.get("order")], line.get("sample", 0)
        values[key] = line.get("value")
        if values[key] is None:
            abstentions[key] = reason(line.get("abstention"))
    return values, abstentions


def reason(abstention):
    if isinstance(abstention, dict):
        return "/".join(str(abstention[part]) for part in ("kind", "class") if abstention.get(part))
    return str(abstention)


def outcomes(verdicts):
    """Case → preference of a pair, or value on the scale; None without a value."""
    found = {}
    for verdict in verdicts:
        criterion = next(iter(verdict["criteria"].values()))
        preference = criterion.get("preference")
        found[verdict["case"]] = criterion.get("value") if preference is None else preference
    return found
