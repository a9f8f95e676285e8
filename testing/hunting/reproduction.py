"""A finding as files that show it again: rules, a test for pytest, calls of the admin API, and a run's timeline."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from errno import EEXIST, ENOTEMPTY
from pathlib import Path

from msgspec import to_builtins

from ...admin.methods.rule_text import DEFAULT_WHEN, without_defaults
from ...faults.rules.fault_rules import FaultRule
from ...storage.file_systems.own_folder import delete_own_folder, replace_file
from .arguments import default_config
from .changes import change_of
from .options import Options
from .program import CheckCommand, PrepareCommand
from .promise import Promise
from .result import Finding
from .run import Setting

RULES_FILE = "rules.json"
# With the number of the finding: pytest imports no two modules of the same name.
TEST_FILE = "test_finding_{}.py"
CALLS_FILE = "curl.sh"
RUN_FILE = "run.html"

_TEST = '''\
"""{title}"""

from fauxka.testing import assert_survives

RULES = {rules}
COMMAND = {command}


def test_program_survives():
    assert_survives(
        COMMAND,
        RULES,
{arguments}    )
'''


def write_finding(folder: Path, finding: Finding, words: Sequence[str], options: Options) -> None:
    """Write rules, test, calls and timeline of a finding to its folder, which has its number as its name.

    Raises OSError.

    words: of the command.
    """
    if folder.is_symlink():
        raise FileExistsError(EEXIST, "it is a link", str(folder))
    folder.mkdir(parents=True, exist_ok=True)
    rules = [json_of(rule) for rule in finding.trial.rules]
    replace_file(folder / RULES_FILE, f"{json.dumps(rules, indent=1)}\n".encode())
    replace_file(folder / TEST_FILE.format(folder.name), _test_text(finding, rules, words, options).encode())
    calls = [f"# {rule.name}, while the request is held" for rule in finding.trial.rules if change_of(rule)]
    calls += [f"curl -s $A/v1/rules -d {shlex.quote(json.dumps(rule))}" for rule in rules]
    replace_file(folder / CALLS_FILE, ("\n".join(["A=$(fauxka admin)", *calls]) + "\n").encode())
    if finding.timeline:
        replace_file(folder / RUN_FILE, finding.timeline.encode())


def remove_findings(folder: Path) -> None:
    """Remove the files of an earlier hunt's findings. Raises OSError."""
    for rules_file in folder.glob(f"*/{RULES_FILE}"):
        of_finding = rules_file.parent
        if not of_finding.name.isdecimal() or of_finding.is_symlink():
            continue
        own = {RULES_FILE, TEST_FILE.format(of_finding.name), CALLS_FILE, RUN_FILE}
        try:
            delete_own_folder(of_finding, own.__contains__)
        except OSError as error:
            # A person keeps something there.
            if error.errno != ENOTEMPTY:
                raise


def _test_text(finding: Finding, rules: Sequence[object], words: Sequence[str], options: Options) -> str:
    arguments = [f"        {name}={value!r},\n" for name, value in _arguments_of(options)]
    return _TEST.format(
        title=f"{finding.trial}: {'; '.join(finding.judgement.reasons)}".replace("\\", "\\\\").replace('"', "'"),
        rules=rules,
        command=list(words),
        arguments="".join(arguments),
    )


def _arguments_of(options: Options) -> Iterator[tuple[str, object]]:
    """Yield the arguments of assert_survives that have another value than their defaults."""
    setting, broker = options.setting, options.setting.broker
    default = Setting(topics=())
    values: Sequence[tuple[str, object, object]] = (
        ("topics", list(setting.topics), []),
        ("groups", list(setting.groups), []),
        ("processed", setting.is_processed, default.is_processed),
        ("event_id", setting.event_id, default.event_id),
        ("expect", options.promise.value, Promise.EXACTLY_ONCE.value),
        ("timeout_seconds", options.timeout_seconds, None),
        ("restarts", setting.restarts, default.restarts),
        ("config", dict(broker.entries), default_config(broker.nodes)),
        ("nodes", broker.nodes, default.broker.nodes),
        ("seed_topics", dict(setting.seed_topics), {}),
        ("before", _words_of(setting.prepare), None),
        ("check", _words_of(setting.check), None),
    )
    for name, value, usual in values:
        if value != usual:
            yield name, value


def _words_of(command: object) -> list[str] | None:
    return list(command.words) if isinstance(command, PrepareCommand | CheckCommand) else None


def json_of(rule: FaultRule) -> dict[str, object]:
    """Return the JSON of a rule without the fields that have their defaults."""
    fields = without_defaults(to_builtins(rule))
    when: dict[str, object] = to_builtins(rule.when)
    changed = {name: value for name, value in when.items() if value != DEFAULT_WHEN[name]}
    return {**fields, "when": changed} if changed else fields
