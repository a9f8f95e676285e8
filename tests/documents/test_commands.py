"""The commands in the documents: bash reads them, and what they name of fauxka, make and this checkout exists.

Scripts are fenced or indented. In a paragraph that also shows output, the commands begin with `$ `.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec

import click
import pytest

from fauxka.__main__ import commands
from tools.documents.pages import PAGES, PARAGRAPHS, ROOT, SNIPPETS, Snippet

# A command of a page begins with one of these.
PROGRAMS = (
    *(
        "fauxka",
        "make",
        "curl",
        "docker",
        "pip",
        "pipx",
        "uvx",
        "python",
        "python3",
        ".venv/bin/python",
        ".venv/bin/pytest",
        "pytest",
    ),
    *("cd", "eval", "git", "go", "mvn", "node", "npm", r"kafka-[\w-]+\.sh", "kafka-topics"),
)
VARIABLES = r"(?:[A-Z]\w*=(?:\"[^\"]*\"|'[^']*'|\$\([^)]*\)|\S*) )*"
COMMAND = re.compile(rf"(?P<prompt>\$ )?{VARIABLES}(?P<program>{'|'.join(PROGRAMS)})(?= |$)|[A-Z]\w*=\$\(")
# Where a shell ends the words of a command.
ENDS = re.compile(r"^(?:[|&;<>]|\d>)")
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = {name for names in re.findall(r"^([a-z][\w -]*):(?!=)", MAKEFILE, re.MULTILINE) for name in names.split()}
GROUPS = {
    str(marker).partition(":")[0]
    for marker in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["markers"]
}
# Hypothesis has a mark of its own.
GROUPS.add("hypothesis")
MAKE_IN_TEXT = re.compile(r"`(make [^`]+)`")


def scripts() -> Iterator[Snippet]:
    """Yield each script of the documents; of a paragraph with output, the commands only."""
    yield from (each for each in SNIPPETS if each.language in ("sh", "bash"))
    for each in PARAGRAPHS:
        lines = each.text.splitlines(keepends=True)
        if each.text.startswith("$ "):
            shown = "".join(line.removeprefix("$ ") for line in lines if line.startswith("$ "))
            yield Snippet(each.page, "sh", shown, each.line)
        elif any(COMMAND.match(line) for line in lines):
            yield Snippet(each.page, "sh", each.text, each.line)


SCRIPTS = list(scripts())


def lines_of(script: Snippet) -> list[str]:
    """Return the commands of a script, each as one line."""
    return [line.strip() for line in re.sub(r"\\\n\s*", " ", script.text).splitlines()]


def commands_of(program: str) -> list[tuple[Snippet, str]]:
    """Return the commands that call a program, without the variables before it."""
    pattern = re.compile(rf"{VARIABLES}({program} .*)")
    calls = [(script, pattern.match(line)) for script in SCRIPTS for line in lines_of(script)]
    return [(script, str(found[1])) for script, found in calls if found is not None]


# A requirement, such as `fauxka ~= 1.0`, is no command.
COMMANDS = list(dict.fromkeys((script.page.name, text) for script, text in commands_of("fauxka") if "~=" not in text))


def words_of(command: str) -> list[str]:
    """Return the words of a command up to a pipe or a redirection, without the comment."""
    without = re.sub(r"\$\([^)]*\)", "SUBSTITUTED", command)
    found: list[str] = []
    for word in shlex.split(without, comments=True):
        if ENDS.match(word):
            break
        found.append(word)
    return found


def parse(words: list[str]) -> None:
    """Parse a command as the command line does. Raises click.UsageError."""
    context = click.Context(commands, info_name="fauxka", **commands.context_settings)
    command, rest = context.command, words
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        _, found, rest = command.resolve_command(context, rest)
        assert found is not None, "an unknown command is an error"
        command, context = found, click.Context(found, parent=context, info_name=found.name)
    if not isinstance(command, click.Group):
        command.make_context(command.name, list(rest), parent=context)


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_command_is_one_of_the_command_line(page: str, command: str) -> None:
    # --version and --help exit.
    with suppress(click.exceptions.Exit):
        parse(words_of(command)[1:])


def test_a_command_that_does_not_exist_is_found() -> None:
    for command in ("fauxka serv", "fauxka serve --prot 1", "fauxka fault add lost_akc", "fauxka verdict --group"):
        with pytest.raises(click.UsageError):
            parse(words_of(command)[1:])


def error_of_bash(text: str) -> str:
    """Return why bash cannot read a script; "" if it can."""
    return subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False).stderr


def test_bash_reads_every_script() -> None:
    assert {str(each): error for each in SCRIPTS if (error := error_of_bash(each.text))} == {}
    assert error_of_bash("curl -s 'http://127.0.0.1:9099") != ""


def wrong_words_of_make(command: str) -> list[str]:
    """Return the targets, variables, groups and paths of a call of make that do not exist."""
    wrong: list[str] = []
    for word in words_of(command)[1:]:
        variable, is_set, value = word.partition("=")
        if not is_set:
            wrong += [word] if word not in TARGETS else []
        elif not re.search(rf"^(?:export )?{variable}\b|\$\({variable}\)", MAKEFILE, re.MULTILINE):
            wrong.append(word)
        elif variable == "GROUP":
            wrong += [each for each in value.split() if each not in GROUPS | {"or", "and", "not"}]
        elif variable == "ARGS":
            paths = [each.partition("::")[0] for each in value.split() if each.startswith("tests/")]
            wrong += [each for each in paths if not (ROOT / each).exists()]
    return wrong


def test_targets_variables_groups_and_paths_of_make_exist() -> None:
    in_scripts = [(str(script), text) for script, text in commands_of("make")]
    in_text = [(page.name, text) for page in PAGES for text in MAKE_IN_TEXT.findall(page.text)]

    called = [*in_scripts, *in_text]
    assert len(called) > 80
    assert [(where, text, wrong) for where, text in called if (wrong := wrong_words_of_make(text))] == []
    assert wrong_words_of_make("make tset GRUOP=java GROUP=jaav ARGS=tests/tset.py") == [
        *("tset", "GRUOP=java", "jaav", "tests/tset.py")
    ]


def test_modules_that_python_runs_are_there() -> None:
    modules = {
        (str(script), text.split()[2])
        for program in (r"(?:\.venv/bin/)?python3?",)
        for script, text in commands_of(program)
        if text.split()[1] == "-m"
    }

    of_checkout = [each for each in modules if each[1].startswith(("tests", "tools", "benchmarks"))]
    assert len(of_checkout) > 8
    assert [each for each in of_checkout if find_spec(each[1]) is None] == []
