"""What the documents fence with a language: docs/testing.md has the table, with what else is done with each.

- A name that a program in Python uses is its own or in readers_code.py, and its imports of fauxka exist. `make check`
  checks its types.
- A program in another language is a block of a source that a group of tests compiles, line after line.
- Files are read by a parser of their format.
"""

from __future__ import annotations

import ast
import configparser
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from tools.documents.pages import PARAGRAPHS, ROOT, SNIPPETS, Page, Snippet, of
from tools.documents.python_programs import READERS_CODE, module_of, readers_names

# A row of the table: page, language, number of programs, how, and the tests that run them.
ROW = re.compile(r"^\| `(?P<page>[\w./-]+)` \| (?P<language>\w+) \| (?P<count>\d+) \| (?P<how>[^|]+) \|$", re.MULTILINE)
TESTING = ROOT / "docs" / "testing.md"
SUFFIXES = {"go": (".go",), "java": (".java",), "ts": (".ts",), "js": (".js", ".ts")}
# The folders with what the groups java, go, node and containers compile.
COMPILED = ("clients", "examples", "tests")
COMMENT = re.compile(r"(?:^|\s+)//.*$|/\*.*?\*/")
LANGUAGES_OF_SHELLS = ("sh", "bash")


@pytest.mark.parametrize("snippet", of("python"), ids=str)
def test_program_in_python_has_all_names(snippet: Snippet) -> None:
    ast.parse(module_of(snippet))


def planted(text: str) -> Snippet:
    return Snippet(Page(ROOT / "README.md"), "python", text, 5)


def test_a_name_that_nobody_defines_is_found() -> None:
    with pytest.raises(ValueError, match="undefined_name is not defined"):
        module_of(planted("broker.verdict(undefined_name)\n"))


def test_lines_of_a_module_have_the_numbers_of_the_page() -> None:
    for snippet in of("python"):
        first = snippet.text.splitlines()[-1]
        assert module_of(snippet).splitlines()[snippet.line + len(snippet.text.splitlines()) - 2] == first


@pytest.mark.deep
def test_pyright_finds_a_method_that_does_not_exist(tmp_path: Path) -> None:
    lines = ("def test_order(fauxka, faults):", "faults.lost_akc()", "fauxka.verdict('a', evnt_id=1)", "fauxka.reset()")
    program = "\n    ".join(lines) + "\n"
    (tmp_path / "program.py").write_text(module_of(planted(program)))
    folders = f'["{ROOT / "src"}", "{ROOT}"]'
    (tmp_path / "pyrightconfig.json").write_text(f'{{"typeCheckingMode": "strict", "extraPaths": {folders}}}')

    pyright = str(Path(sys.executable).with_name("pyright"))
    command = [pyright, "--pythonpath", sys.executable, "-p", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)

    assert re.findall(r":(\d+):\d+ - error", ended.stdout) == ["6", "7"], ended.stdout


def test_names_of_the_readers_code_are_used() -> None:
    used = {
        alias.name
        for snippet in of("python")
        for node in ast.walk(ast.parse(module_of(snippet)))
        if isinstance(node, ast.ImportFrom) and node.module == READERS_CODE
        for alias in node.names
    }

    assert readers_names() - used == {"DataFrame", "SparkSession"}


def is_python(text: str) -> bool:
    """Return whether a text is a program in Python that calls or imports something, or the beginning of one."""
    for body in ("", "\n    pass\n", "\ndef function(): pass\n"):
        try:
            tree = ast.parse(text.rstrip() + body)
        except SyntaxError:
            continue
        return any(isinstance(node, ast.Call | ast.Import | ast.ImportFrom) for node in ast.walk(tree))
    return False


def test_programs_in_python_are_fenced() -> None:
    assert [str(each) for each in PARAGRAPHS if is_python(each.text)] == []
    assert all(map(is_python, ["faults.lost_ack()", "@pytest.mark.fauxka_hunt()", "with Broker() as broker:"]))


def lines_in(text: str) -> list[str]:
    """Return the lines of a source without indents, comments and empty lines."""
    lines = [COMMENT.sub("", line).strip() for line in text.splitlines()]
    return [line for line in lines if line]


@cache
def compiled_sources(language: str) -> list[list[str]]:
    """Return the lines of each source in a language that a group compiles."""
    files = [path for folder in COMPILED for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES[language]]
    return [lines_in(path.read_text()) for path in files if "node_modules" not in path.parts]


def has_block(source: Sequence[str], block: Sequence[str]) -> bool:
    """Return whether the lines of a block follow each other in a source."""
    return any(source[start : start + len(block)] == block for start in range(len(source) - len(block) + 1))


@pytest.mark.parametrize("snippet", of(*SUFFIXES), ids=str)
def test_program_in_another_language_is_a_block_of_a_source_that_is_compiled(snippet: Snippet) -> None:
    block = lines_in(snippet.text)

    assert any(has_block(source, block) for source in compiled_sources(snippet.language))


def test_lines_in_another_order_are_no_block() -> None:
    (program,) = [each for each in of("go") if each.page.name == "README.md"]
    block = lines_in(program.text)

    for changed in (block[::-1], [*block, "}", "func"], [*block[:1], *block[2:]]):
        assert not any(has_block(source, changed) for source in compiled_sources("go"))


def read_properties(text: str) -> None:
    assert [line for line in text.splitlines() if line and "=" not in line and not line.startswith("#")] == []


def read_ini(text: str) -> None:
    configparser.ConfigParser().read_string(text)


READERS: dict[str, Callable[[str], object]] = {
    "ini": read_ini,
    "properties": read_properties,
    "toml": tomllib.loads,
    "xml": ElementTree.fromstring,
    "yaml": yaml.safe_load,
}


@pytest.mark.parametrize("snippet", of(*READERS), ids=str)
def test_file_is_read_by_its_parser(snippet: Snippet) -> None:
    READERS[snippet.language](snippet.text)


def test_every_language_has_a_check() -> None:
    # test_commands.py reads scripts.
    assert {each.language for each in SNIPPETS} <= {"python", *SUFFIXES, *READERS, *LANGUAGES_OF_SHELLS}


def test_the_table_has_every_page_and_language_with_their_number() -> None:
    rows = [(row["page"], row["language"], int(row["count"])) for row in ROW.finditer(TESTING.read_text())]
    found = Counter((each.page.name, each.language) for each in SNIPPETS)

    assert sorted(rows) == sorted((*key, count) for key, count in found.items())


def test_tests_that_the_table_names_exist_and_name_the_page() -> None:
    for row in ROW.finditer(TESTING.read_text()):
        for name in re.findall(r"`((?:tests|clients)/[\w/.-]+)`", row["how"]):
            assert Path(row["page"]).stem.lower() in (ROOT / name).read_text().lower(), (row["page"], name)
