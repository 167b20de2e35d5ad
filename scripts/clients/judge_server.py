#!/usr/bin/env python3
"""A scripted judge behind an OpenAI-compatible API, for tests of eval clients. Standard library only.

  scripts/clients/judge_server.py [--port N] [--leaning 0.9] [--replies NAME,…] [--manner MANNER] [--fail STATUS:TIMES]…

Serves chat completions (plain and streamed), responses, embeddings and models, with and without /v1. What it answers follows from
the form that a request asks for and from its leaning (`judge_replies.py`); --replies adds the rules of `replies/NAME.json`.
Owns: the wire. Must not know: which forms there are.
"""

import argparse
import base64
import collections
import hashlib
import http.server
import itertools
import json
import math
import pathlib
import re
import struct
import threading

import judge_replies

HERE = pathlib.Path(__file__).resolve().parent
USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
DIMENSIONS = 64
# Any client asks for far less; a longer body is a fault of the test.
MOST_BYTES = 8 * 1024 * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--leaning", type=float, default=1.0, help="from 0, finds fault, to 1, approves")
    parser.add_argument("--replies", default="", metavar="NAME,…")
    parser.add_argument("--manner", choices=MANNERS, help="a way of answering beside the form that was asked for")
    parser.add_argument("--fail", action="append", default=[], metavar="STATUS:TIMES", help="answer the next requests with an error")
    options = parser.parse_args()
    judge = JudgeServer(options.leaning, port=options.port)
    judge.manner = options.manner
    judge.rules = [rule for name in options.replies.split(",") if name for rule in rules_of(name)]
    for fault in options.fail:
        status, _, times = fault.partition(":")
        judge.fail(int(status), int(times or 1))
    print(judge.base_url, flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        pass


def rules_of(name):
    """The rules for one client's prompts; none for clients that send a schema or a tool."""
    path = HERE / "replies" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []


class JudgeServer:
    """Listens on loopback from threads of its own until the program ends. Its manner is one of `MANNERS`, or none."""

    def __init__(self, leaning, port=0):
        self.leaning, self.rules, self.manner = leaning, [], None
        self.requests = collections.Counter()
        self._faults, self._lock, self._ids = [], threading.Lock(), itertools.count(1)
        judge = self

        class Bound(Handler):
            def __init__(self, *arguments):
                self.judge = judge
                super().__init__(*arguments)

        server = Server(("127.0.0.1", port), Bound)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"

    def begin(self, rules):
        """A new client's turn: its rules, and nothing of the one before."""
        with self._lock:
            self.rules, self._faults = rules, []
            self.requests.clear()

    def fail(self, status, times):
        """The next requests for an answer get this status."""
        with self._lock:
            self._faults += [status] * times

    def count(self, route):
        """Counts a request; the status that it has to fail with, if any."""
        with self._lock:
            self.requests[route] += 1
            return self._faults.pop(0) if self._faults and route in ANSWERS else None

    def new_id(self, prefix):
        return f"{prefix}-{next(self._ids):06}"


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    judge = None

    def do_GET(self):
        route = self.route()
        model = {"id": "scripted", "object": "model", "created": 1, "owned_by": "tests"}
        if route == "/models":
            self.send_json(200, {"object": "list", "data": [model]})
        elif route.startswith("/models/"):
            self.send_json(200, {**model, "id": route.removeprefix("/models/")})
        else:
            self.send_json(404, error_body(f"no route {self.path}"))

    def do_POST(self):
        route = self.route()
        length = int(self.headers.get("content-length") or 0)
        if length > MOST_BYTES:
            self.close_connection = True
            return self.send_json(413, error_body("too large"))
        try:
            body = json.loads(self.rfile.read(length))
        except ValueError:
            return self.send_json(400, error_body("the body is not JSON"))
        fault = self.judge.count(route)
        if fault:
            return self.send_json(fault, error_body("failing by script"), {"retry-after": "1"} if fault in (429, 503) else {})
        if route == "/embeddings":
            return self.send_json(200, embeddings(body))
        if route not in ANSWERS:
            return self.send_json(404, error_body(f"no route {self.path}"))
        reply = judge_replies.reply(body, self.judge.leaning, self.judge.rules)
        answer = ANSWERS[route](body, reply, self.judge)
        if body.get("stream") and route == "/chat/completions":
            return self.send_events(chunks(answer))
        return self.send_json(200, answer)

    def route(self):
        return re.sub(r"^/v1(?=/)", "", self.path.split("?")[0])

    def send_json(self, status, answer, headers=None):
        data = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def send_events(self, events):
        """Server-sent events up to the end of the connection."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in [*map(json.dumps, events), "[DONE]"]:
            self.wfile.write(f"data: {event}\n\n".encode())
        self.close_connection = True

    def log_message(self, *_):
        pass


def error_body(message):
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}


def chat(body, reply, judge):
    message, finish = {"role": "assistant", "content": reply.text, "refusal": None}, "stop"
    if judge.manner:
        reply = MANNERS[judge.manner](reply)
        message |= {"content": reply.text, "refusal": None if reply.pieces else "I would rather not judge this."}
    if reply.tool:
        function = {"name": reply.tool, "arguments": reply.text}
        call = {"id": judge.new_id("call"), "type": "function", "function": function}
        message, finish = {**message, "content": None, "tool_calls": [call]}, "tool_calls"
    logprobs = None
    if body.get("logprobs") and not reply.tool:
        logprobs = {"content": judge_replies.token_logprobs(reply.pieces, body.get("top_logprobs") or 0), "refusal": None}
    choices = [
        {"index": index, "message": message, "finish_reason": finish, "logprobs": logprobs} for index in range(body.get("n") or 1)
    ]
    return {
        "id": judge.new_id("chatcmpl"), "object": "chat.completion", "created": 1, "model": body.get("model"),
        "choices": choices, "usage": USAGE,
    }


def fenced(reply):
    """JSON as many models write it: in a fence, after a sentence."""
    return surrounded(reply, "Here is my judgement:\n```json\n", "\n```")


def talkative(reply):
    """JSON between prose, of which one part looks like a verdict too."""
    return surrounded(reply, '<think>{"score": 1} would be harsh.</think>So I say: ', "\n\nTell me if you need more.")


def surrounded(reply, before, after):
    if reply.tool or not reply.text.startswith("{"):
        return reply
    return judge_replies.Reply([(before, None), *reply.pieces, (after, None)])


def refusing(_):
    return judge_replies.Reply([])


MANNERS = {"fenced": fenced, "talkative": talkative, "refusing": refusing}


def chunks(answer):
    """A chat completion as a stream has it: role, text in two parts, the end, the usage."""
    head = {**{key: answer[key] for key in ("id", "created", "model")}, "object": "chat.completion.chunk"}
    for choice in answer["choices"]:
        message, index = choice["message"], choice["index"]
        if message["content"] is None:
            calls = [{"index": number, **call} for number, call in enumerate(message["tool_calls"])]
            deltas = [{"role": "assistant", "content": None, "tool_calls": calls}]
        else:
            half = len(message["content"]) // 2
            deltas = [{"role": "assistant", "content": message["content"][:half]}, {"content": message["content"][half:]}]
        for delta in deltas:
            yield {**head, "choices": [{"index": index, "delta": delta, "finish_reason": None}]}
        yield {**head, "choices": [{"index": index, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    yield {**head, "choices": [], "usage": answer["usage"]}


def responses(body, reply, judge):
    if reply.tool:
        output = {"type": "function_call", "id": judge.new_id("fc"), "call_id": judge.new_id("call"), "status": "completed",
                  "name": reply.tool, "arguments": reply.text}
    else:
        text = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        output = {"type": "message", "id": judge.new_id("msg"), "status": "completed", "role": "assistant", "content": [text]}
    usage = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 20,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 120}
    return {
        "id": judge.new_id("resp"), "object": "response", "created_at": 1, "status": "completed", "model": body.get("model"),
        "output": [output], "parallel_tool_calls": False, "tool_choice": "auto", "tools": [], "error": None,
        "incomplete_details": None, "usage": usage,
    }


ANSWERS = {"/chat/completions": chat, "/responses": responses}


def embeddings(body):
    """Equal texts get equal vectors, and texts that share words near ones."""
    texts = body.get("input")
    data = []
    for index, text in enumerate(texts if isinstance(texts, list) else [texts]):
        embedding = vector(text if isinstance(text, str) else json.dumps(text))
        if body.get("encoding_format") == "base64":
            embedding = base64.b64encode(struct.pack(f"<{len(embedding)}f", *embedding)).decode()
        data.append({"object": "embedding", "index": index, "embedding": embedding})
    return {"object": "list", "data": data, "model": body.get("model"), "usage": {"prompt_tokens": 5, "total_tokens": 5}}


def vector(text):
    values = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.lower()) or [text]:
        values[hashlib.sha256(word.encode()).digest()[0] % DIMENSIONS] += 1.0
    length = math.sqrt(sum(value * value for value in values))
    return [value / length for value in values]


if __name__ == "__main__":
    main()
