#!/usr/bin/env python3
"""Drill: the drop-in endpoint before the real llama.cpp server that `scripts/local-judges` started. What is checked is no opinion: judges
that say the same are repeated word for word, whether asked alone or as a panel, and a forced function is called as its schema says."""

import argparse
import json
import socket
import urllib.error
import urllib.request

import stage

MODEL = "smollm2-135m"
JUDGES = ("one", "two", "three")
# At temperature 0 the same model says the same, so that three judges agree.
SAMPLING = {"temperature": 0, "seed": 7, "max_tokens": 96}
QUESTION = "Question: What is the capital of Peru?\nReference: Lima\nAnswer: It is Lima.\n"
VERDICT = {
    "type": "object", "additionalProperties": False, "required": ["verdict", "score"],
    "properties": {"verdict": {"enum": ["right", "wrong"]}, "score": {"type": "integer", "minimum": 1, "maximum": 5}},
}
CHOICE = {
    "type": "object", "additionalProperties": False, "required": ["choice"],
    "properties": {"choice": {"type": "string", "enum": ["A", "B"]}},
}
FORMS = {
    "a word": ("Is it right? Answer yes or no.", {"max_tokens": 4}),
    "a line": ("End with one line, VERDICT: right or VERDICT: wrong.", {}),
    "an object": ('Reply with JSON such as {"right": true, "score": 0.5}.', {"response_format": {"type": "json_object"}}),
    "a schema": ("Judge it, with a score from 1 to 5.",
                 {"response_format": {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": VERDICT}}}),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tribunal", required=True)
    parser.add_argument("--judges-port", type=int, default=18080)
    options = parser.parse_args()
    server = f"http://127.0.0.1:{options.judges_port}/v1"
    with stage.Stage(options.tribunal) as here:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        here.write_panel(panel(server, port))
        gateway = f"http://127.0.0.1:{port}"
        process = here.start("serve", "-c", "panel.yaml")
        try:
            stage.wait_until(lambda: process.poll() is not None or answers(gateway + "/health/readiness"), "readiness")
            stage.check(process.poll() is None, f"`tribunal serve` ended: {(here.folder / 'tribunal.log').read_text()[-2000:]}")
            for form, (wish, more) in FORMS.items():
                said_alike(form, body(wish, more), server, gateway + "/v1")
            called_by_schema(gateway + "/v1")
        finally:
            process.terminate()
            process.wait(timeout=60)
    print(f"{len(FORMS)} forms and a function through three llama.cpp judges, as a client asks: the panel repeats what they agree on")


def panel(server, port):
    return {
        "server": {"bind": f"127.0.0.1:{port}"},
        "store": "drill.db",
        # One call at a time: answers that are computed together may differ in their last digits, and then in a word.
        "servers": {"local": {"provider": "llama_cpp", "base_url": server, "limits": {"concurrency": 1}}},
        # Each another judge by its seed, which the client's own takes the place of.
        "judges": {name: {"server": "local", "model": MODEL, "family": "smollm", "params": {"seed": seed}} for seed, name in enumerate(JUDGES)},
        "panels": {"default": {"judges": list(JUDGES), "rubric": "The answer is right.",
                               "deadline": {"attempt": "50s", "case": "55s", "grace": "50s"}}},
    }


def body(wish, more):
    return {"messages": [{"role": "user", "content": QUESTION + wish}], **SAMPLING, **more}


def said_alike(form, asked, server, gateway):
    """The server itself, each judge by itself, and the panel."""
    expected = text(ask(server, MODEL, asked))
    for name in JUDGES:
        alone = text(ask(gateway, f"judge/{name}", asked))
        stage.check(alone == expected, f"{form}: judge {name} said {alone!r}, and its server {expected!r}")
    folded = ask(gateway, "default", asked)
    stage.check(text(folded) == expected, f"{form}: the panel said {text(folded)!r}, and its judges {expected!r}")
    quorum = folded["tribunal"]["quorum"]
    stage.check(quorum["voted"] == len(JUDGES), f"{form}: {quorum}")


def called_by_schema(gateway):
    """llama.cpp holds no model to a function: it is given the schema, and the answer is a call all the same."""
    tool = {"type": "function", "function": {"name": "choose", "parameters": CHOICE}}
    more = {"tools": [tool], "tool_choice": {"type": "function", "function": {"name": "choose"}}}
    answer = ask(gateway, "default", body("(A) it is right (B) it is wrong", more))
    [call] = answer["choices"][0]["message"]["tool_calls"]
    chosen = json.loads(call["function"]["arguments"])
    stage.check(call["function"]["name"] == "choose" and list(chosen) == ["choice"] and chosen["choice"] in ("A", "B"), f"called {call}")


def ask(base_url, model, asked):
    request = urllib.request.Request(base_url + "/chat/completions", json.dumps({"model": model, **asked}).encode(),
                                     {"content-type": "application/json"})
    try:
        with opened(request, timeout_s=180) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        stage.fail(f"{model}: {error.code} {error.read().decode(errors='replace')[:600]}")


def text(answer):
    return answer["choices"][0]["message"]["content"]


def answers(url):
    try:
        with opened(url, timeout_s=2) as answer:
            return answer.status == 200
    except OSError:
        return False


def opened(request, timeout_s):
    # No proxy: all this is on loopback whatever the environment says.
    return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=timeout_s)


if __name__ == "__main__":
    main()
