"""Figures by hand, and the way from recorded lines through a stand-in program and back."""

import json
import pathlib
import stat
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from recorded import compare, figures, program, sets  # noqa: E402

GOLD = {"one": "a", "two": "b"}
# Judge x is right in both orders of `one`, flips on `two`; judge y ties once and cannot be read once.
READING = {
    ("one", "x", "ab", 0): "a", ("one", "x", "ba", 0): "a", ("two", "x", "ab", 0): "a", ("two", "x", "ba", 0): "b",
    ("one", "y", "ab", 0): "tie", ("one", "y", "ba", 0): "a", ("two", "y", "ab", 0): None, ("two", "y", "ba", 0): "b",
}

# Replays `verdict` as a perfect program would, and reads nothing from raw text.
STAND_IN = """#!/usr/bin/env python3
import json, sys
panel = json.load(open("panel.yaml"))
ids = {judge["only"]["judge"]: name for name, judge in panel["judges"].items()}
if sys.argv[1] == "judge":
    with open("verdicts.jsonl", "w") as verdicts:
        for line in open("cases.jsonl"):
            verdicts.write(json.dumps({"case": json.loads(line)["id"], "criteria": {"better": {"preference": "a"}}}) + "\\n")
else:
    for line in map(json.loads, open("recorded.jsonl")):
        value = line["verdict"] if panel["servers"]["recorded"]["read"] == "verdict" else None
        shown = {"case": line["case"], "judge": ids[line["judge"]], "order": "reversed" if line["order"] == "ba" else "as_given",
                 "sample": 0, "value": value}
        if value is None:
            shown["abstention"] = {"kind": "unparseable", "class": "no_verdict"}
        print(json.dumps(shown))
"""


class Figures(unittest.TestCase):
    def test_single_verdicts(self):
        x, y = figures.of_judge(READING, "x"), figures.of_judge(READING, "y")
        self.assertEqual(figures.accuracy(x, GOLD), 0.75)
        self.assertEqual(figures.accuracy(x, GOLD, "ab"), 0.5)
        self.assertEqual(figures.accuracy(y, GOLD), 0.5)
        self.assertEqual(figures.null_rate(y), 0.25)

    def test_flips_count_cases_whose_orders_were_both_read(self):
        self.assertEqual(figures.flips(figures.of_judge(READING, "x")), (0.5, 0.5, 2))
        self.assertEqual(figures.flips(figures.of_judge(READING, "y")), (0.0, 1.0, 1))

    def test_undecided_is_half_right(self):
        self.assertEqual(figures.accuracy_half(figures.of_judge(READING, "x"), GOLD), 0.75)
        self.assertEqual(figures.majority_accuracy(READING, ["x", "y"], GOLD), (1.0, 0.0))
        self.assertEqual(figures.verdict_accuracy({"one": "a", "two": None}, GOLD), (0.75, 0.5))

    def test_spearman_shares_ranks_and_is_undefined_without_variation(self):
        self.assertEqual(figures.ranks([3, 1, 3]), [2.5, 1.0, 2.5])
        self.assertAlmostEqual(figures.spearman([1, 2, 3, 4], [10, 20, 40, 30]), 0.8)
        self.assertIsNone(figures.spearman([1, 1, 1], [1, 2, 3]))

    def test_differences_have_causes(self):
        ours = {**READING, ("one", "x", "ab", 0): None, ("two", "y", "ab", 0): "b", ("one", "y", "ba", 0): "b"}
        del ours[("two", "x", "ba", 0)]
        causes = figures.differences(ours, {("one", "x", "ab", 0): "unparseable/ambiguous"}, READING)
        self.assertEqual({cause: len(keys) for cause, keys in causes.items()}, {
            "we abstain: unparseable/ambiguous": 1, "we read a value, the source none": 1, "another value": 1, "not asked": 1})


class Replay(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.tribunal = self.folder / "tribunal"
        self.tribunal.write_text(STAND_IN)
        self.tribunal.chmod(self.tribunal.stat().st_mode | stat.S_IXUSR)
        recorded = self.folder / "llmbar"
        recorded.mkdir()
        judgments = [{"case": case, "judge": judge, "prompt": "P", "order": order, "sample": 0, "raw": "?", "verdict": value}
                     for (case, judge, order, _), value in READING.items()]
        judge = {"null_rate": 0, "acc": 0, "acc_ab": 0, "acc_ba": 0, "acc_half": 0, "flip_hard": 0, "flip_any": 0, "n_both_parsed": 0}
        expected = {"judges": {"P": {"x": judge, "y": judge}}, "panels": {"P": {"all": {"judges": ["x", "y"], "majority": 1.0}}}}
        sets.write_lines(recorded / "cases.jsonl", [{"id": case, "input": "?", "a": "", "b": True, "gold": "a"} for case in GOLD])
        sets.write_lines(recorded / "judgments.jsonl", judgments)
        sets.write_lines(recorded / "humans.jsonl", [{"case": case, "label": label} for case, label in GOLD.items()])
        (recorded / "expected.json").write_text(json.dumps(expected))
        self.recorded = sets.RecordedSet(recorded)
        self.run_panel = compare.panel_runner(self.tribunal, lambda: pathlib.Path(tempfile.mkdtemp(dir=self.folder)))

    def compare(self, read):
        (comparison,) = compare.llmbar(self.recorded, read, self.run_panel, prompts=["P"])
        return comparison

    def test_replaying_what_the_source_read_changes_nothing(self):
        comparison = self.compare("verdict")
        self.assertEqual(comparison.causes, {})
        self.assertTrue(all(row.ours == row.recomputed for row in comparison.rows if row.recomputed is not None))

    def test_texts_that_cannot_be_read_are_listed_by_cause(self):
        self.assertEqual(list(self.compare("raw").causes), ["we abstain: unparseable/no_verdict"])

    def test_a_failed_run_is_an_error(self):
        self.tribunal.write_text("#!/bin/sh\nexit 78\n")
        with self.assertRaises(program.Failed):
            self.compare("verdict")

    def test_cases_lose_their_figures_and_keep_their_texts(self):
        self.assertEqual(sets.bare_case(self.recorded.cases[0]), {"id": "one", "input": "?", "a": "(empty)", "b": "true"})


if __name__ == "__main__":
    unittest.main()
