"""The completion of `fauxka` in real shells, and what it completes without a broker."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..broker.topic_client import TOPIC
from ..serving_process import Serving, environment, run
from .admin_client import AdminClient

pytestmark = pytest.mark.processes

RUN_SECONDS_MAX = 120
SHELLS = ("bash", "zsh", "fish")
# What bash does when the user presses TAB after the last word.
BASH = """
eval "$(fauxka completion bash)"
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 ))
_fauxka_completion fauxka
printf '%s\\n' "${COMPREPLY[@]}"
"""
# What zsh does. It offers the words by these two functions.
ZSH = """
autoload -Uz compinit; compinit -D -u
eval "$(fauxka completion zsh)"
words=("$@"); CURRENT=$#
_describe() { print -l -- ${completions_with_descriptions%%:*} }
compadd() { print -l -- $completions }
_fauxka_completion
"""
FISH = """
fauxka completion fish | source
complete --do-complete (string join -- ' ' $argv) | string replace --regex '\\t.*' '' | cat
"""
COMMANDS = {
    "bash": ("bash", "--norc", "-c", BASH, "bash"),
    "zsh": ("zsh", "--no-rcs", "-c", ZSH, "zsh"),
    "fish": ("fish", "--no-config", "-c", FISH),
}


def complete(*words: str, shell: str = "bash", runtime_dir: Path | None = None) -> list[str]:
    """Return the words with which a shell completes the last one. runtime_dir: where running brokers are looked up."""
    variables = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    if runtime_dir is not None:
        variables["XDG_RUNTIME_DIR"] = str(runtime_dir)
    command = (*COMMANDS[shell], "fauxka", *words)
    ended = subprocess.run(
        command, env=environment(variables), capture_output=True, text=True, timeout=RUN_SECONDS_MAX, check=True
    )
    assert ended.stderr == ""
    return ended.stdout.split()


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (("fa",), ["fault"]),
        (("kafka",), []),
        (("fault", "add", "lost_"), ["lost_ack", "lost_request"]),
        (("fault", "add", "refuse", "NOT_L"), ["NOT_LEADER_OR_FOLLOWER"]),
        (("fault", "add", "lost_ack", "--api", "ListOff"), ["ListOffsets"]),
        (("scenario", "run", "lost"), ["lost-ack", "lost-request"]),
        (("serve", "--seed"), ["--seed-topic"]),
        (("completion", ""), ["bash", "zsh", "fish"]),
        (("help", "fault", "a"), ["add"]),
        (("help", "serve", ""), []),
        (("help", "nosuch", ""), []),
    ],
)
def test_bash_completes_commands_options_and_fixed_names(words: tuple[str, ...], completed: list[str]) -> None:
    assert complete(*words) == completed


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_complete_commands_and_names(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert complete("fa", shell=shell) == ["fault"]
    assert complete("fault", "add", "lost_", shell=shell) == ["lost_ack", "lost_request"]
    assert complete("fault", "add", "refuse", "NOT_L", shell=shell) == ["NOT_LEADER_OR_FOLLOWER"]


@pytest.mark.slice
def test_bash_completes_topics_and_rules_of_the_running_broker(broker: Serving, admin: AdminClient) -> None:
    chosen = ("--ready-file", str(broker.ready_file))
    admin.post("/v1/rules", {"name": "lost", "point": "applied", "action": {"kind": "close"}})
    unnamed = admin.post("/v1/rules", {"name": "two words", "point": "applied", "action": {"kind": "close"}})

    assert complete("verdict", *chosen, TOPIC[:2]) == [TOPIC]
    assert complete("journal", *chosen, "--topic", TOPIC[:2]) == [TOPIC]
    assert complete("fault", "add", "lost_ack", *chosen, "--topic", TOPIC[:2]) == [TOPIC]
    assert complete("fault", "clear", *chosen, "") == ["lost", str(unnamed["id"])]


def test_bash_completes_no_topic_without_a_broker(tmp_path: Path) -> None:
    assert complete("verdict", "", runtime_dir=tmp_path) == []


def test_bash_completes_no_topic_of_another_server(broker: Serving) -> None:
    assert complete("verdict", "--admin", broker.bootstrap, "") == []


@pytest.mark.parametrize("shell", SHELLS)
def test_script_is_valid_in_its_shell(shell: str, tmp_path: Path) -> None:
    ended = run("completion", shell)

    assert (ended.exit_code, ended.log) == (0, "")
    assert "_FAUXKA_COMPLETE" in ended.output
    if shutil.which(shell):
        (tmp_path / "script").write_text(ended.output)
        subprocess.run((shell, "-n", str(tmp_path / "script")), check=True, timeout=RUN_SECONDS_MAX)


def test_unknown_shell_is_one_line_and_exit_code_2() -> None:
    ended = run("completion", "csh")

    assert (ended.exit_code, ended.output, ended.log.count("\n")) == (2, "", 1)
    assert "is not one of 'bash', 'zsh', 'fish'" in ended.log
