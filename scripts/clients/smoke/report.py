"""What every smoke test prints: what its client read, form by form, and what went wrong.

Owns: the outcome of a smoke test. Must not know: any client.
"""

import json
import os
import sys
import traceback

IS_TRIBUNAL = os.environ.get("JUDGES") != "direct"
# Three scripted judges, of which the last finds fault: what they come to can be told exactly.
IS_SCRIPTED_PANEL = os.environ.get("JUDGES") == "scripted"
# A real model has opinions of its own, and a small one takes its time: the documented example is enough for it.
IS_REAL = os.environ.get("JUDGES") == "llama"
read, failed = {}, []


def step(name):
    """Runs the function at once; what it returns is what the client read, what it raises is a failure."""

    def run(function):
        try:
            read[name] = function()
        except Exception as error:
            failed.append(name)
            read[name] = f"{type(error).__name__}: {error}"[:500]
            traceback.print_exc()

    return run


def expect(claim, found):
    """The verdict that the scripted judges come to."""
    if not claim:
        raise AssertionError(f"not the verdict of the judges: {found}")
    return found


def documented():
    """The documented example has run; with real judges that is all."""
    if IS_REAL:
        end()


def end():
    print("VERDICT " + json.dumps(read, default=str))
    if failed:
        print("failed: " + ", ".join(failed))
    sys.stdout.flush()
    # Some clients leave threads behind that would hold the exit.
    os._exit(1 if failed else 0)
