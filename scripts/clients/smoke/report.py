"""What every smoke test prints: what its client read, form by form, and what went wrong.

Owns: the outcome of a smoke test. Must not know: any client.
"""

import json
import os
import sys
import traceback

# Judges of their own mind (a real model): forms are checked, opinions are not.
HAS_OPINIONS = os.environ.get("JUDGES") != "llama"
IS_TRIBUNAL = os.environ.get("JUDGES") != "direct"
# Three scripted judges, of which the last finds fault: what they come to can be told exactly.
IS_SCRIPTED_PANEL = os.environ.get("JUDGES") == "scripted"
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
    if HAS_OPINIONS and not claim:
        raise AssertionError(f"not the verdict of the judges: {found}")
    return found


def end():
    print("VERDICT " + json.dumps(read, default=str))
    if failed:
        print("failed: " + ", ".join(failed))
    sys.stdout.flush()
    # Some clients leave threads behind that would hold the exit.
    os._exit(1 if failed else 0)
