"""What drills share: a folder of their own, a stand-in judge server, and running Tribunal there.

Owns: starting and ending what a drill starts. Must not know: what a drill checks.
"""

import collections
import http.server
import json
import pathlib
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Stage:
    """A temporary folder under .local/drills, on the same disk as real use would be, with Tribunal in it."""

    def __init__(self, tribunal):
        self.tribunal = str(pathlib.Path(tribunal).resolve())

    def __enter__(self):
        home = ROOT / ".local" / "drills"
        home.mkdir(parents=True, exist_ok=True)
        self._temporary = tempfile.TemporaryDirectory(dir=home)
        self.folder = pathlib.Path(self._temporary.name)
        return self

    def __exit__(self, *_):
        self._temporary.cleanup()

    def write_panel(self, panel):
        # JSON is YAML.
        (self.folder / "panel.yaml").write_text(json.dumps(panel, indent=1) + "\n")

    def write_lines(self, name, objects):
        with open(self.folder / name, "w", encoding="utf-8") as file:
            for one in objects:
                file.write(json.dumps(one) + "\n")

    def lines(self, name):
        return parsed((self.folder / name).read_text(encoding="utf-8"))

    def command(self, *arguments):
        return [self.tribunal, *arguments]

    def start(self, *arguments, log="tribunal.log"):
        with open(self.folder / log, "wb") as output:
            return subprocess.Popen(self.command(*arguments), cwd=self.folder, stdout=output, stderr=output, stdin=subprocess.DEVNULL)

    def run(self, *arguments, codes=(0,), timeout_s=600):
        """Standard output of a finished command; ends the drill when the exit code is another one."""
        finished = subprocess.run(self.command(*arguments), cwd=self.folder, capture_output=True, text=True, encoding="utf-8",
                                  timeout=timeout_s, stdin=subprocess.DEVNULL, check=False)
        if finished.returncode not in codes:
            fail(f"`tribunal {' '.join(arguments)}` ended with {finished.returncode}, expected {codes}\n"
                 f"{finished.stdout[-2000:]}{finished.stderr[-4000:]}")
        return finished.stdout

    def judgments(self):
        """Every judgment of the newest run, also of cases that have no verdict yet."""
        return parsed(self.run("show", "last", "--judgments", "--json", "-c", "panel.yaml"))


class StandInJudge:
    """An OpenAI-compatible server on loopback that answers each call with the same rating after a while, and counts."""

    def __init__(self, delay_s):
        self.calls = collections.Counter()
        self.in_flight = 0
        self._lock = threading.Lock()
        stand_in = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self):
                self._reply({"object": "list", "data": [{"id": "stand-in", "object": "model"}]})

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                with stand_in._lock:
                    stand_in.calls[body] += 1
                    stand_in.in_flight += 1
                time.sleep(delay_s)
                with stand_in._lock:
                    stand_in.in_flight -= 1
                content = '{"reason": "Right, with a gap.", "score": 4}'
                self._reply({"id": "1", "object": "chat.completion", "created": 1, "model": json.loads(body)["model"],
                             "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
                             "usage": {"prompt_tokens": 100, "completion_tokens": 12, "total_tokens": 112}})

            def _reply(self, answer):
                data = json.dumps(answer).encode()
                try:
                    self.send_response(200)
                    self.send_header("content-type", "application/json")
                    self.send_header("content-length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    self.close_connection = True  # the caller was killed, which is what drills do

            def log_message(self, *_):
                pass

        self.base_url = serve(Handler)

    def answered(self):
        with self._lock:
            return self.calls.total() - self.in_flight

    def repeated(self):
        with self._lock:
            return self.calls.total() - len(self.calls)


RUBRIC = {"criteria": [{"name": "quality", "type": "ordinal", "scale": [1, 2, 3, 4, 5]}]}


def serve(handler):
    """Serves on a free port from threads of its own; returns the address up to `/v1`."""

    class Server(http.server.ThreadingHTTPServer):
        request_queue_size = 256
        daemon_threads = True

        def handle_error(self, *_):
            pass

    server = Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/v1"


def wait_until(condition, what, limit_s=120):
    started = time.monotonic()
    while not condition():
        if time.monotonic() - started > limit_s:
            fail(f"waited {limit_s} s in vain: {what}")
        time.sleep(0.01)


def parsed(text):
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def check(claim, message):
    if not claim:
        fail(message)


def fail(message):
    raise SystemExit(f"drill failed: {message}")
