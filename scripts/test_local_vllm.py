"""`scripts/local-vllm`: which machines are refused, and whose processes are ended."""

import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "local-vllm"


def loaded():
    loader = importlib.machinery.SourceFileLoader("local_vllm", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("local_vllm", loader))
    # Its name has no suffix: a compiled copy would lie beside it for ever.
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(module)
    sys.dont_write_bytecode = kept
    return module


VLLM = loaded()
FIT = {"system": "Linux", "machine": "x86_64", "libc": (2, 36), "python": "python3", "disk_gb": 10.0, "memory": 6.0}


class UnfitMachines(unittest.TestCase):
    def test_a_machine_with_all_that_is_needed_is_fit(self):
        self.assertIsNone(VLLM.unfit(**FIT))
        self.assertIsNone(VLLM.unfit(**{**FIT, "machine": "aarch64"}))

    def test_each_missing_thing_is_named(self):
        for change, words in (
            ({"system": "Darwin", "machine": "arm64"}, "this is Darwin on arm64"),
            ({"machine": "riscv64"}, "this is Linux on riscv64"),
            ({"libc": None}, "another C library"),
            ({"libc": (2, 17)}, "this is 2.17"),
            ({"python": None}, "Python 3.11 to 3.14"),
            ({"disk_gb": 9.94}, "there are 9.9"),
            ({"memory": 3.9}, "there are 3.9"),
        ):
            with self.subTest(change):
                self.assertIn(words, VLLM.unfit(**{**FIT, **change}))


@unittest.skipUnless(os.path.isdir("/proc/self"), "processes are read from /proc")
class Processes(unittest.TestCase):
    def test_only_vllm_is_found_in_a_group(self):
        for name, is_found in (("vllm", True), ("another", False)):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                script = pathlib.Path(folder) / name
                script.write_text("import sys; print(flush=True); sys.stdin.read()", encoding="ascii")
                process = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
                try:
                    process.stdout.readline()
                    self.assertEqual(VLLM.members(process.pid), [process.pid] if is_found else [])
                finally:
                    process.communicate()
                self.assertEqual(VLLM.members(process.pid), [])


class Requirements(unittest.TestCase):
    def test_every_line_is_pinned(self):
        lines = [line for line in VLLM.REQUIREMENTS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        self.assertEqual([line for line in lines if "==" not in line.split(";")[0]], [])
        self.assertTrue(VLLM.pinned("torch").startswith("torch==2."))


if __name__ == "__main__":
    unittest.main()
