"""One comparison a set: expected figures, the same figures recomputed from the recorded verdicts, and ours.

The recomputed column proves the formulas: where it differs from the expected one, the fault is here and not in Tribunal.
"""

import dataclasses
import statistics

from . import figures, program, sets

PREFERENCE = {"name": "better", "type": "pass_fail", "instructions": "Which answer is better?"}
RATING = {"name": "quality", "type": "ordinal", "scale": [1, 2, 3, 4, 5]}
# The set's own reader also found halves, which are off the declared scale for Tribunal's parser.
RATING_WITH_HALVES = {**RATING, "scale": [half / 2 for half in range(2, 11)]}
LLMBAR_PROMPTS = ("Vanilla_NoRules", "Vanilla", "CoT", "Metrics", "Reference", "Metrics_Reference")


@dataclasses.dataclass
class Row:
    figure: str
    expected: float | None
    recomputed: float | None
    ours: float | None


@dataclasses.dataclass
class Comparison:
    title: str
    rows: list
    judgments: int
    # Cause → keys of judgments that we read differently, and the recorded text of each key.
    causes: dict
    texts: dict


def llmbar(recorded_set, read, run_panel, prompts=LLMBAR_PROMPTS):
    gold = {line["case"]: line["label"] for line in recorded_set.humans}
    for prompt in prompts:
        judgments = [line for line in recorded_set.judgments if line["prompt"] == prompt and line["order"] in ("ab", "ba")]
        names = judge_names(judgments)
        recorded = {sets.key_of(line): line["verdict"] for line in judgments}
        ours, abstentions, outcomes = run_panel(recorded_set.cases, judgments, names, read_field(read, "verdict"), "both", PREFERENCE)
        expected = recorded_set.expected["judges"][prompt]
        rows = [row for judge in names.values() for row in llmbar_judge(judge, expected[judge], recorded, ours, gold)]
        for panel, reference in recorded_set.expected["panels"][prompt].items():
            if "majority" in reference:
                rows += llmbar_panel(panel, reference, recorded, ours, gold)
        accuracy, undecided = figures.verdict_accuracy(outcomes, gold)
        rows.append(Row("all: Tribunal's own verdict, accuracy", None, None, accuracy))
        rows.append(Row("all: Tribunal's own verdict, undecided", None, None, undecided))
        causes = figures.differences(ours, abstentions, recorded)
        yield Comparison(f"llmbar, prompt {prompt}, read {read}", rows, len(recorded), causes, texts_of(judgments))


def llmbar_judge(judge, expected, recorded, ours, gold):
    left, right = figures.of_judge(recorded, judge), figures.of_judge(ours, judge)
    measures = {
        "null_rate": figures.null_rate,
        "acc": lambda reading: figures.accuracy(reading, gold),
        "acc_ab": lambda reading: figures.accuracy(reading, gold, "ab"),
        "acc_ba": lambda reading: figures.accuracy(reading, gold, "ba"),
        "acc_half": lambda reading: figures.accuracy_half(reading, gold),
        "flip_hard": lambda reading: figures.flips(reading)[0],
        "flip_any": lambda reading: figures.flips(reading)[1],
        "n_both_parsed": lambda reading: figures.flips(reading)[2],
    }
    return [Row(f"{judge}: {name}", expected[name], measure(left), measure(right)) for name, measure in measures.items()]


def llmbar_panel(panel, reference, recorded, ours, gold):
    left = figures.majority_accuracy(recorded, reference["judges"], gold)
    right = figures.majority_accuracy(ours, reference["judges"], gold)
    return [
        Row(f"{panel}: majority", reference["majority"], left[0], right[0]),
        Row(f"{panel}: majority_undecided", reference.get("majority_undecided"), left[1], right[1]),
    ]


def pandalm(recorded_set, read, run_panel):
    labels = {}
    for line in recorded_set.humans:
        labels.setdefault(line["case"], []).append(line["label"])
    gold = {case: majority_label(found) for case, found in labels.items()}
    # The recorded reason is `raw`; the recorded verdict, which is what the judge wrote in its answer's slot, is `raw_result`.
    judgments = [{**line, "raw": line["raw_result"]} for line in recorded_set.judgments]
    names = judge_names(judgments)
    recorded = {sets.key_of(line): line["verdict"] for line in judgments}
    ours, abstentions, _ = run_panel(recorded_set.cases, judgments, names, read_field(read, "verdict"), "as_given", PREFERENCE)
    rows = []
    for judge in names.values():
        expected = recorded_set.expected["judges"][judge]
        left, right = figures.of_judge(recorded, judge), figures.of_judge(ours, judge)
        rows += [
            Row(f"{judge}: null", expected["null"], nulls(left), nulls(right)),
            Row(f"{judge}: tie_rate", expected["tie_rate"], figures.tie_rate(left), figures.tie_rate(right)),
            Row(f"{judge}: acc_3way", expected["acc_3way"], figures.accuracy(left, gold), figures.accuracy(right, gold)),
        ]
    causes = figures.differences(ours, abstentions, recorded)
    yield Comparison(f"pandalm, read {read}", rows, len(recorded), causes, texts_of(judgments))


def summeval(recorded_set, read, run_panel):
    judgments = [line for line in recorded_set.judgments if line["prompt"] == "rts"]
    names = judge_names(judgments)
    recorded = {sets.key_of(line): line.get("score") for line in judgments}
    rating = RATING if read == "raw" else RATING_WITH_HALVES
    ours, abstentions, outcomes = run_panel(recorded_set.cases, judgments, names, read_field(read, "score"), "both", rating)
    dims = {case["id"]: case["dim"] for case in recorded_set.cases}
    experts = expert_means(recorded_set.humans)
    rows = []
    for judge in names.values():
        left, right = figures.of_judge(recorded, judge), figures.of_judge(ours, judge)
        rows.append(Row(f"{judge}: null_rate", None, figures.null_rate(left), figures.null_rate(right)))
        rows.append(Row(f"{judge}: same as recorded", None, 1.0, figures.same_share(right, left)))
    for dim, reference in recorded_set.expected["dims"].items():
        cases = {case for case, found in dims.items() if found == dim}
        for judge in names.values():
            expected = reference["judges"][f"{judge}/rts"]["dataset"]["spearman"]
            found = [correlation(by_case(figures.of_judge(one, judge)), experts, cases) for one in (recorded, ours)]
            rows.append(Row(f"{dim}: {judge}: spearman", expected, *found))
        five = reference["panels"]["five"]
        medians = panel_values(recorded, statistics.median)
        rows.append(Row(f"{dim}: five: median spearman", five["median"]["spearman"], correlation(medians, experts, cases),
                        correlation(outcomes, experts, cases)))
        means = [correlation(panel_values(one, statistics.fmean), experts, cases) for one in (recorded, ours)]
        rows.append(Row(f"{dim}: five: mean spearman", five["mean"]["spearman"], *means))
    causes = figures.differences(ours, abstentions, recorded)
    yield Comparison(f"summeval, prompt rts, read {read}", rows, len(recorded), causes, texts_of(judgments))


COMPARISONS = {"llmbar": llmbar, "pandalm": pandalm, "summeval": summeval}


def panel_runner(tribunal, new_folder):
    """A function that replays judgments through Tribunal: (values, abstentions, outcome of each case)."""

    def run_panel(cases, judgments, names, field, orders, criterion):
        folder = sets.write_inputs(new_folder(), cases, judgments, names, field, orders, criterion)
        verdicts, shown = program.judge(tribunal, folder)
        values, abstentions = program.reading(shown, names)
        return values, abstentions, program.outcomes(verdicts)

    return run_panel


def read_field(read, recorded_field):
    """`raw` goes through Tribunal's parser; `verdict` takes the field that the set's own reader filled."""
    return "raw" if read == "raw" else recorded_field


def judge_names(judgments):
    return {f"judge-{number}": name for number, name in enumerate(sorted({line["judge"] for line in judgments}), 1)}


def texts_of(judgments):
    return {sets.key_of(line): line.get("raw", "") for line in judgments}


def majority_label(labels):
    top = max(set(labels), key=lambda label: (labels.count(label), label))
    return top if labels.count(top) * 2 > len(labels) else "tie"


def nulls(reading):
    return sum(value is None for value in reading.values())


def expert_means(humans):
    by_case_found = {}
    for line in humans:
        if line["annotator"].startswith("expert"):
            by_case_found.setdefault(line["case"], []).append(line["label"])
    return {case: statistics.fmean(labels) for case, labels in by_case_found.items()}


def by_case(reading):
    return {key[0]: value for key, value in reading.items() if key[3] == 0}


def panel_values(reading, middle):
    found = {}
    for key, value in reading.items():
        if value is not None and key[3] == 0:
            found.setdefault(key[0], []).append(value)
    return {case: middle(values) for case, values in found.items()}


def correlation(values, experts, cases):
    chosen = sorted(case for case in cases if values.get(case) is not None and case in experts)
    return figures.spearman([values[case] for case in chosen], [experts[case] for case in chosen])
