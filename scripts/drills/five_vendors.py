#!/usr/bin/env python3
"""Drill: five fake vendors that fail by script, under limits. No failure becomes a number, and no limit is exceeded.

The right score of a case follows from its text, so that every vote can be checked; every missing vote must have the reason that
its vendor's script gives. The vendors count requests and tokens in every sliding minute, concurrency, and retries.
"""

import argparse
import bisect
import collections
import json
import re
import socket
import struct
import threading
import time

import http.server

import stage

# Tribunal's burst, as a share of a minute: what the limits allow at once.
BURST_S = 10
# Of its retry budget: a share of successes, and a number a second, over a window.
BUDGET_SHARE, BUDGET_PER_S, BUDGET_WINDOW_S = 0.2, 2, 10
USED_TOKENS = 112
# Requests that were on their way when the vendor first said "later".
ON_THEIR_WAY_S = 0.3
START_S = 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tribunal", required=True)
    parser.add_argument("--full", action="store_true", help="2,000 cases instead of 200")
    options = parser.parse_args()
    count = 2000 if options.full else 200
    vendors = {vendor.name: vendor for vendor in five(options.full)}
    with stage.Stage(options.tribunal) as here:
        here.write_panel(panel(vendors.values()))
        here.write_lines("cases.jsonl", [{"id": f"case-{number:04}", "input": "How good?", "output": f"Answer number {number}."} for number in range(count)])
        started = time.monotonic()
        here.run("judge", "cases.jsonl", "-c", "panel.yaml", "-o", "verdicts.jsonl", "--quiet", "--no-cache", "-j", "128")
        took_s = time.monotonic() - started
        verdicts = list(here.lines("verdicts.jsonl"))
    stage.check(len(verdicts) == count, f"{len(verdicts)} verdicts for {count} cases")
    missing = collections.Counter()
    for verdict in verdicts:
        verify(verdict, vendors, missing)
    for vendor in vendors.values():
        print(vendor.report(took_s, missing))
        vendor.verify(took_s, count, missing)
    allowed_s = max(vendor.least_time_s() for vendor in vendors.values())
    print(f"{count} cases in {took_s:.1f} s; the limits allow {allowed_s:.1f} s; {sum(missing.values())} of {5 * count} votes are missing, each with its reason")
    stage.check(took_s <= 1.1 * allowed_s + START_S, f"{took_s:.1f} s, the limits allow {allowed_s:.1f} s")


def right_score(number):
    return number * 7 % 5 + 1


def verify(verdict, vendors, missing):
    """Each vote is right or says why it is missing, and the value follows from the votes."""
    name, criterion = verdict["case"], verdict["criteria"]["quality"]
    right = right_score(int(name.removeprefix("case-")))
    wrong = [vote for vote in criterion["votes"] if vote["value"] != right]
    stage.check(not wrong, f"{name}: expected {right}: {wrong}")
    judges = sorted(entry["judge"] for entry in criterion["votes"] + criterion["abstentions"])
    stage.check(judges == sorted(vendors), f"{name}: heard of {judges}")
    for abstention in criterion["abstentions"]:
        vendor = vendors[abstention["judge"]]
        stage.check(abstention["kind"] in vendor.reasons, f"{name}: {abstention}, expected one of {vendor.reasons}")
        missing[vendor.name] += 1
    has_quorum = len(criterion["votes"]) >= verdict["quorum"]["required"]
    stage.check(criterion["value"] == (right if has_quorum else None), f"{name}: {criterion['value']} from {len(criterion['votes'])} votes")
    stage.check(has_quorum or verdict["escalated"], f"{name}: no quorum, and nobody is told")


class Vendor:
    """An OpenAI-compatible server that answers as its script says, and writes down what reached it."""

    # Kinds of abstention that its script may lead to, and the share of votes that may be missing.
    reasons = ()
    may_miss = 0.0

    def __init__(self, name, **limits):
        self.name, self.limits = name, limits
        self.lock = threading.Lock()
        # Time and tokens of each request.
        self.arrivals, self.largest = [], 0
        self.asked, self.answered = collections.Counter(), 0
        self.in_flight = self.most_in_flight = 0
        self.paused_s = 0
        vendor = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self):
                vendor.serve(self)

            def log_message(self, *_):
                pass

        self.base_url = stage.serve(Handler)

    def serve(self, handler):
        now = time.monotonic()
        body = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        text = "\n".join(message["content"] for message in body["messages"])
        number = int(re.search(r"Answer number (\d+)\.", text).group(1))
        with self.lock:
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            self.asked[number] += 1
            answer = self.script(number, self.asked[number], now)
            # What failed may have used all it could.
            estimate = sum(-(-len(message["content"]) // 4) + 4 for message in body["messages"]) + body.get("max_tokens", 512)
            tokens = USED_TOKENS if answer is good else 0 if answer is later else estimate
            self.arrivals.append((now, tokens))
            self.largest = max(self.largest, estimate)
            self.answered += answer is good
        try:
            self.hold()
        finally:
            # Before the last byte: the caller may send the next request as soon as it has that.
            with self.lock:
                self.in_flight -= 1
        try:
            answer(handler, number, self)
        except OSError:
            handler.close_connection = True

    def script(self, number, attempt, now):
        return good

    def hold(self):
        time.sleep(0.05)

    def requests(self):
        return len(self.arrivals)

    def retries(self):
        return self.requests() - len(self.asked)

    def most_in_a_minute(self, amount):
        arrivals = sorted(self.arrivals)
        times = [at for at, _ in arrivals]
        sums = [0]
        for entry in arrivals:
            sums.append(sums[-1] + amount(entry))
        return max((sums[bisect.bisect_right(times, at + 60)] - sums[index] for index, at in enumerate(times)), default=0)

    def least_time_s(self):
        """The least time in which what came can come under the limits."""
        times = [0.0]
        if limit := self.limits.get("requests_per_minute"):
            times.append(least_time_s(self.requests(), limit))
        if limit := self.limits.get("tokens_per_minute"):
            times.append(least_time_s(sum(tokens for _, tokens in self.arrivals), limit))
        return max(times) + self.paused_s

    def report(self, took_s, missing):
        return (f"{self.name}: {self.requests()} requests, at most {self.most_in_a_minute(lambda _: 1)} a minute of {self.limits.get('requests_per_minute', '-')}, "
                f"{self.most_in_a_minute(lambda entry: entry[1])} tokens of {self.limits.get('tokens_per_minute', '-')}, "
                f"{self.most_in_flight} at once of {self.limits.get('concurrency', '-')}; {self.retries()} retries, {missing[self.name]} votes missing")

    def verify(self, took_s, count, missing):
        unlimited = float("inf")
        requests, tokens = self.most_in_a_minute(lambda _: 1), self.most_in_a_minute(lambda entry: entry[1])
        stage.check(requests <= self.limits.get("requests_per_minute", unlimited) + 1, f"{self.name}: {requests} requests in a minute")
        stage.check(tokens <= self.limits.get("tokens_per_minute", unlimited) + self.largest, f"{self.name}: {tokens} tokens in a minute")
        stage.check(self.most_in_flight <= self.limits.get("concurrency", unlimited), f"{self.name}: {self.most_in_flight} requests at once")
        budget = BUDGET_SHARE * self.answered + BUDGET_PER_S * (took_s + BUDGET_WINDOW_S)
        stage.check(self.retries() <= budget, f"{self.name}: {self.retries()} retries, the budget is {budget:.0f}")
        stage.check(missing[self.name] <= self.may_miss * count, f"{self.name}: {missing[self.name]} of {count} votes are missing")


class Storm(Vendor):
    """At some requests it tells everybody to come back later, and means it."""

    reasons, may_miss = ("rate_limited",), 0.1

    def __init__(self, name, storms, wish_s, **limits):
        super().__init__(name, **limits)
        self.storms, self.wish_s = list(storms), wish_s
        self.began = self.ends = 0.0
        self.too_early = 0

    def script(self, number, attempt, now):
        if self.storms and self.requests() >= self.storms[0]:
            self.storms.pop(0)
            self.began, self.ends = now, now + self.wish_s
            self.paused_s += self.wish_s
        if now >= self.ends:
            return good
        self.too_early += now > self.began + ON_THEIR_WAY_S
        return later

    def verify(self, took_s, count, missing):
        super().verify(took_s, count, missing)
        stage.check(not self.storms, f"{self.name}: a storm never came")
        stage.check(self.too_early == 0, f"{self.name}: {self.too_early} requests came while it asked to be left alone")


class Flapping(Vendor):
    """A 5xx now and then, and always for some cases."""

    reasons, may_miss = ("unavailable",), 0.2

    def script(self, number, attempt, now):
        return broken if number % 50 == 49 or (number % 7 == 3 and attempt == 1) else good


class Cutting(Vendor):
    """Half answers, no answers, an error inside a 200; always for some cases. So seldom that five outages hardly ever come in a
    row, which would open the breaker."""

    reasons, may_miss = ("unavailable",), 0.2

    def script(self, number, attempt, now):
        if number % 100 == 13:
            return half
        if attempt > 1:
            return good
        return {1: half, 17: nothing, 33: reset, 49: error_in_200}.get(number % 64, good)


class Dead(Vendor):
    """Closes every connection."""

    reasons, may_miss = ("unavailable",), 1.0

    def script(self, number, attempt, now):
        return nothing

    def verify(self, took_s, count, missing):
        super().verify(took_s, count, missing)
        stage.check(missing[self.name] == count, f"{self.name}: only {missing[self.name]} votes are missing")
        # Five failures open the breaker, then one probe each time its pause ends; what was on its way then may still come.
        stage.check(self.requests() <= 20 + took_s / 5, f"{self.name}: asked {self.requests()} times")


class Slow(Vendor):
    """Slow, and right."""

    def hold(self):
        time.sleep(0.25)


def five(is_full):
    storms, per_minute, wish_s = ((400, 1250), 900, 2) if is_full else ((120, 170), 600, 1)
    return [
        Storm("storm", storms, wish_s, concurrency=16, requests_per_minute=per_minute),
        Flapping("flapping", concurrency=16, tokens_per_minute=240_000 if is_full else 200_000),
        Cutting("cutting", concurrency=8, requests_per_minute=2 * per_minute),
        Dead("dead", concurrency=4),
        Slow("slow", concurrency=10),
    ]


def panel(vendors):
    return {
        "store": "drill.db",
        "servers": {vendor.name: {"provider": "openai_compatible", "base_url": vendor.base_url, "perimeter": "inside", "limits": vendor.limits}
                    for vendor in vendors},
        "judges": {vendor.name: {"server": vendor.name, "model": f"{vendor.name}-1", "family": f"family-{vendor.name}", "scoring": "discrete",
                                 "params": {"max_tokens": 64}} for vendor in vendors},
        "rubrics": {"quality": stage.RUBRIC},
        "panels": {"default": {"judges": [vendor.name for vendor in vendors], "rubric": "quality",
                               "deadline": {"attempt": "10s", "case": "150s", "grace": "140s"}}},
    }


def least_time_s(amount, per_minute):
    """A burst, then an even pace, and never more than the limit in a minute."""
    minutes, rest = divmod(max(amount - 1, 0), per_minute)
    return 60 * minutes + max(0.0, (rest + 1) * 60 / per_minute - BURST_S)


def good(handler, number, vendor):
    content = json.dumps({"reason": "By the rule.", "score": right_score(number)})
    send(handler, 200, {"id": "1", "object": "chat.completion", "created": 1, "model": vendor.name,
                        "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
                        "usage": {"prompt_tokens": USED_TOKENS - 12, "completion_tokens": 12, "total_tokens": USED_TOKENS}})


def later(handler, number, vendor):
    send(handler, 429, {"error": {"message": "slow down", "type": "rate_limit_error"}}, {"retry-after": str(vendor.wish_s)})


def broken(handler, number, vendor):
    send(handler, (500, 502, 503, 529)[number % 4], {"error": {"message": "out of order", "type": "server_error"}})


def error_in_200(handler, number, vendor):
    send(handler, 200, {"error": {"message": "overloaded", "code": 503}})


def half(handler, number, vendor):
    handler.wfile.write(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 400\r\n\r\n{"choices": [{"message": {"content": "{\\"score\\": ')
    handler.close_connection = True


def nothing(handler, number, vendor):
    handler.close_connection = True


def reset(handler, number, vendor):
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True


def send(handler, status, body, headers=()):
    data = json.dumps(body).encode()
    handler.send_response(status)
    for name, value in {"content-type": "application/json", "content-length": str(len(data)), **dict(headers)}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)


if __name__ == "__main__":
    main()
