"""The recorded sets: reading their files, and writing what Tribunal is given. Knows the files' form and panel.yaml's."""

import gzip
import json
import pathlib

FAMILIES = ("amber", "birch", "cedar", "daisy", "ebony", "fern")


def lines(folder, name):
    """Objects of NAME.jsonl or NAME.jsonl.gz."""
    plain = folder / f"{name}.jsonl"
    if plain.exists():
        text = plain.read_text(encoding="utf-8")
    else:
        text = gzip.decompress((folder / f"{name}.jsonl.gz").read_bytes()).decode("utf-8")
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def write_lines(path, objects):
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects), encoding="utf-8")


class RecordedSet:
    """One folder: cases, judgments, people's labels and the reference figures."""

    def __init__(self, folder):
        self.name = folder.name
        self.cases = lines(folder, "cases")
        self.judgments = lines(folder, "judgments")
        self.humans = lines(folder, "humans")
        self.expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def key_of(line):
    return line["case"], line["judge"], line.get("order", "ab"), line.get("sample", 0)


def bare_case(case):
    """A case without the fields that are figures: kinship and metadata do not matter for a replay.

    An empty candidate gets a placeholder: Tribunal would not ask a judge about it, while the recorded judges were asked.
    """
    kept = {name: as_text(case[name]).strip() and as_text(case[name]) or "(empty)" for name in ("input", "output", "a", "b", "reference") if name in case}
    return {"id": case["id"], **kept}


def as_text(value):
    """Some recorded answers are JSON values, not strings; the judge saw them as text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def write_inputs(folder, cases, judgments, judges, read, orders, criterion):
    """Cases, recorded lines and panel.yaml in `folder`; `judges` maps a judge's id to the recorded judge's name."""
    write_lines(folder / "cases.jsonl", [bare_case(case) for case in cases])
    write_lines(folder / "recorded.jsonl", judgments)
    panel = {
        "store": str(folder / "measure.db"),
        "servers": {"recorded": {"provider": "replay", "path": str(folder / "recorded.jsonl"), "read": read}},
        "judges": {
            judge: {"server": "recorded", "model": name, "family": FAMILIES[number % len(FAMILIES)], "only": {"judge": name}}
            for number, (judge, name) in enumerate(judges.items())
        },
        "rubrics": {"recorded": {"criteria": [criterion]}},
        "panels": {"recorded": {"judges": list(judges), "rubric": "recorded", "orders": orders}},
    }
    # JSON is YAML.
    (folder / "panel.yaml").write_text(json.dumps(panel, indent=1) + "\n", encoding="utf-8")
    return pathlib.Path(folder)
