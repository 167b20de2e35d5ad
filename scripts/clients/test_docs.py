"""The guide's pages about clients: every example is run as written, with the versions that the page names."""

import json
import pathlib
import re
import sys
import textwrap
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import roster

PAGES = roster.ROOT / "docs/clients"
ADDRESS = "http://127.0.0.1:4600/v1"
# Languages of blocks whose text has to be in what the smoke test runs.
RUN = ("python", "js", "yaml")


def blocks(page):
    """Language and text of the fenced blocks of a page."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def regions(source):
    """What stands between `docs: begin` and `docs: end` in a file that is run."""
    found = re.findall(r"^ *(?:#|//) docs: begin[^\n]*\n(.*?)^ *(?:#|//) docs: end$", source, re.DOTALL | re.MULTILINE)
    return [textwrap.dedent(region) for region in found]


def run_texts(name):
    """The documented texts that the smoke test of a client runs."""
    texts = regions(roster.smoke_test(name).read_text(encoding="utf-8"))
    if name == "promptfoo":
        texts.append((HERE / "smoke/promptfooconfig.yaml").read_text(encoding="utf-8"))
    return texts


def version(name, package):
    if name in roster.NODE_CLIENTS:
        return npm_versions(name).get(package)
    pinned = dict(line.split("==") for line in requirements(name))
    return pinned.get(package)


def npm_versions(name):
    packages = json.loads((HERE / "requirements" / f"{name}.json").read_text(encoding="utf-8"))
    return {**packages["dependencies"], **packages.get("optionalDependencies", {})}


def requirements(name):
    lines = (HERE / "requirements" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


class Pages(unittest.TestCase):
    def test_every_client_has_a_page_and_every_page_a_client(self):
        pages = {path.stem for path in PAGES.glob("*.md")} - {"README"}
        self.assertEqual(pages, set(roster.ALL))
        index = (PAGES / "README.md").read_text(encoding="utf-8")
        self.assertEqual([name for name in roster.ALL if f"({name}.md)" not in index], [])

    def test_every_example_is_what_the_smoke_test_runs(self):
        for name in roster.ALL:
            with self.subTest(name):
                page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
                shown = [text for language, text in blocks(page) if language in RUN]
                self.assertEqual(shown, run_texts(name))

    def test_every_setting_of_the_environment_is_what_the_smoke_test_gets(self):
        for name in roster.ALL:
            with self.subTest(name):
                page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
                settings = [text.split() for language, text in blocks(page) if language == "sh"]
                self.assertEqual([line[0] for line in settings], ["export"])
                given = roster.addresses(ADDRESS, "none")
                self.assertEqual({pair: given.get(pair.split("=")[0]) for pair in settings[0][1:]},
                                 {pair: pair.split("=", 1)[1] for pair in settings[0][1:]})

    def test_every_named_version_is_the_one_that_is_installed(self):
        for name in roster.ALL:
            with self.subTest(name):
                page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
                named = re.findall(r"^Tested with ([\w.-]+) (\d[\w.]*)\.$", page, re.MULTILINE)
                self.assertEqual(len(named), 1, "a line `Tested with PACKAGE VERSION.`")
                package, shown = named[0]
                self.assertEqual(shown, version(name, package))

    def test_the_aliases_are_those_of_the_test_panel(self):
        [(language, text)] = [block for block in blocks((PAGES / "README.md").read_text(encoding="utf-8")) if block[0] == "yaml"]
        self.assertEqual([text], regions((HERE / "panel.yaml").read_text(encoding="utf-8")))


class Requirements(unittest.TestCase):
    def test_every_package_is_pinned(self):
        for name in roster.PYTHON_CLIENTS:
            with self.subTest(name):
                self.assertEqual([line for line in requirements(name) if not re.fullmatch(r"[\w.-]+==[\w.!+-]+( ; .+)?", line)], [])
        for name in roster.NODE_CLIENTS:
            with self.subTest(name):
                self.assertEqual([pinned for pinned in npm_versions(name).values() if not re.fullmatch(r"\d+\.\d+\.\d+", pinned)], [])


class Extraction(unittest.TestCase):
    def test_blocks_and_regions_are_found(self):
        self.assertEqual(blocks("a\n```python\nx = 1\n```\nb\n```sh\nls\n```\n"), [("python", "x = 1\n"), ("sh", "ls\n")])
        source = "a\n# docs: begin\nx = 1\n# docs: end\nif y:\n    # docs: begin more\n    z = 2\n    # docs: end\n"
        self.assertEqual(regions(source), ["x = 1\n", "z = 2\n"])


if __name__ == "__main__":
    unittest.main()
