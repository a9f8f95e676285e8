"""docs/hunt.md, command by command, does what it shows; all other commands of the two pages are commands of fauxka."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from fauxka.testing.hunting.command_line import hunt

from ..serving_process import environment

ROOT = Path(__file__).parent.parent.parent
TUTORIAL, REFERENCE = ((ROOT / "docs" / name).read_text() for name in ("hunt.md", "hunt-reference.md"))
# Commands, outputs and code: the indented blocks, in their order.
BLOCKS = [textwrap.dedent(block) for block in re.findall(r"(?:^(?: {4}|\.\.\.).*\n)+", TUTORIAL, re.MULTILINE)]
INLINE = sorted(set(re.findall(r"`(fauxka hunt [^`]+)`", TUTORIAL + REFERENCE)))
HUNT_SECONDS_MAX = 180


def run_in(folder: Path, script: str) -> tuple[int, str]:
    """Run a script with the commands of this environment, and return its exit code and its output."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ended = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment({"PATH": path}),
        capture_output=True,
        text=True,
        timeout=HUNT_SECONDS_MAX,
    )
    return ended.returncode, ended.stdout


def is_shown(shown: str, output: str) -> bool:
    """Whether the lines are in the output; ... stands for any text."""
    return re.search(r".*".join(map(re.escape, shown.strip().split("..."))), output, re.DOTALL) is not None


@pytest.mark.processes
@pytest.mark.clients
@pytest.mark.timeout(3 * HUNT_SECONDS_MAX)
def test_the_tutorial_finds_the_defect_and_shows_that_it_is_mended(tmp_path: Path) -> None:
    found, shown, code, tested, replayed = BLOCKS
    folder = tmp_path / "examples" / "hunt"
    shutil.copytree(ROOT / "examples" / "hunt", folder)

    exit_code, output = run_in(tmp_path, found)

    assert exit_code == 1, output
    assert is_shown(shown, output), output
    assert textwrap.indent(code, "    ") in (folder / "outbox_defect.py").read_text()
    exit_code, output = run_in(folder, f"{tested.strip()} -p no:cacheprovider")
    assert exit_code == 1, output
    assert "AssertionError: orders: 1 event ('one coffee') missing" in output
    exit_code, output = run_in(folder, replayed)
    assert exit_code == 0, output
    assert output.startswith("held\n")
    assert (folder / "fauxka-hunt" / "index.html").exists()
    assert (folder / "fauxka-hunt" / "replay.html").exists()


@pytest.mark.parametrize("command", INLINE)
def test_each_command_of_the_pages_has_options_that_exist(command: str) -> None:
    words = shlex.split(command)

    context = hunt.make_context("hunt", words[2:])

    assert context.params["words"][0] == "python"


def test_each_option_is_in_the_reference() -> None:
    names = {name for option in hunt.params for name in option.opts if name.startswith("-")}

    assert {name for name in names if f"`{name}" not in REFERENCE} <= {"--set", "--output"}
