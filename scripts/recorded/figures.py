"""Figures over readings of judgments. Pure: knows neither files nor Tribunal.

A reading is a dict from (case, judge, order, sample) to a value: `a`, `b`, `tie` or a number, in the case's own frame.
A judgment that could not be read has the value None. Definitions follow the `how` of each set's expected.json.
"""

import math
import statistics

SIGN = {"a": 1, "b": -1, "tie": 0, None: 0}


def of_judge(reading, judge):
    return {key: value for key, value in reading.items() if key[1] == judge}


def null_rate(reading):
    return share(value is None for value in reading.values())


def tie_rate(reading):
    return share(value == "tie" for value in reading.values())


def accuracy(reading, gold, order=None):
    """Share of single verdicts that equal the label; one that could not be read counts as wrong."""
    chosen = {key: value for key, value in reading.items() if order in (None, key[2]) and key[0] in gold}
    return share(value == gold[key[0]] for key, value in chosen.items())


def accuracy_of_parsed(reading, gold):
    return share(value == gold[key[0]] for key, value in reading.items() if value is not None)


def accuracy_half(reading, gold):
    """Per case the mean over its verdicts of +1, −1 and 0: right 1, undecided ½, wrong 0."""
    return mean([half_point(total, gold[case]) for case, total in signed_means(reading).items()])


def flips(reading):
    """(hard, any, cases) over the cases whose two orders were both read: the verdicts are a and b; they differ at all."""
    by_case = {}
    for (case, _, order, _), value in reading.items():
        if value is not None:
            by_case.setdefault(case, {})[order] = value
    pairs = [tuple(orders.values()) for orders in by_case.values() if len(orders) == 2]
    return share(set(pair) == {"a", "b"} for pair in pairs), share(first != second for first, second in pairs), len(pairs)


def majority_accuracy(reading, judges, gold):
    """Sign of the sum over judges of their mean over both orders; undecided counts ½. Returns (accuracy, undecided share)."""
    means = [signed_means(of_judge(reading, judge)) for judge in judges]
    totals = {case: sum(judge.get(case, 0) for judge in means) for case in gold}
    points = [half_point(total, gold[case]) for case, total in totals.items()]
    return mean(points), share(abs(total) < 1e-9 for total in totals.values())


def verdict_accuracy(preferences, gold):
    """Accuracy of panel verdicts; no value or a tie counts ½. Returns (accuracy, undecided share)."""
    points = [half_point(SIGN[preferences.get(case)], label) for case, label in gold.items()]
    return mean(points), share(point == 0.5 for point in points)


def signed_means(reading):
    by_case = {}
    for key, value in reading.items():
        by_case.setdefault(key[0], []).append(SIGN[value])
    return {case: statistics.fmean(signs) for case, signs in by_case.items()}


def half_point(total, label):
    if abs(total) < 1e-9:
        return 0.5
    return 1.0 if ("a" if total > 0 else "b") == label else 0.0


def same_share(ours, recorded):
    """Share of judgments that both read, where both read the same value."""
    both = [(ours[key], value) for key, value in recorded.items() if value is not None and ours.get(key) is not None]
    return share(left == right for left, right in both)


def spearman(left, right):
    """Pearson correlation of mid-ranks; None where one side is constant or there are fewer than three pairs."""
    if len(left) < 3:
        return None
    return pearson(ranks(left), ranks(right))


def pearson(left, right):
    left_mean, right_mean = statistics.fmean(left), statistics.fmean(right)
    left = [value - left_mean for value in left]
    right = [value - right_mean for value in right]
    spread = math.sqrt(math.fsum(value * value for value in left) * math.fsum(value * value for value in right))
    if spread == 0:
        return None
    return math.fsum(one * other for one, other in zip(left, right)) / spread


def ranks(values):
    """1-based ranks; equal values share the mean of their places."""
    places = sorted(range(len(values)), key=values.__getitem__)
    found = [0.0] * len(values)
    start = 0
    while start < len(places):
        end = start
        while end + 1 < len(places) and values[places[end + 1]] == values[places[start]]:
            end += 1
        for place in places[start:end + 1]:
            found[place] = (start + end) / 2 + 1
        start = end + 1
    return found


def share(claims):
    claims = list(claims)
    return sum(claims) / len(claims) if claims else None


def mean(values):
    return statistics.fmean(values) if values else None


def differences(ours, abstentions, recorded):
    """Judgments that we read differently, as cause → keys. `abstentions` says why we have no value."""
    causes = {}
    for key, value in recorded.items():
        found = ours.get(key)
        if found == value:
            continue
        if key not in ours:
            cause = "not asked"
        elif found is None:
            cause = f"we abstain: {abstentions.get(key, 'no reason given')}"
        elif value is None:
            cause = "we read a value, the source none"
        else:
            cause = "another value"
        causes.setdefault(cause, []).append(key)
    return causes
