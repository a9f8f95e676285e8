"""A finding as files that show it again: rules, a test for pytest, and calls of the admin API."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

from msgspec import to_builtins

from ..faults.rules.fault_rules import FaultRule
from ..testing.rule import DEFAULT_WHEN, without_defaults
from .event_id import expression_of
from .hunt import Finding, Options
from .judgement import Outcome, Promise

RULES_FILE = "rules.json"
TEST_FILE = "test_finding.py"
CALLS_FILE = "curl.sh"

# How events with the faults (`found`) are compared with those without, by promise.
_ASSERTIONS = {
    Promise.EXACTLY_ONCE: "assert found == expected",
    Promise.AT_LEAST_ONCE: "assert not expected - found",
    Promise.AT_MOST_ONCE: "assert not found - expected",
}
_TEST = '''\
"""{title}"""

import os
import subprocess
from collections import Counter

from fauxka.testing import Broker

RULES = {rules}
COMMAND = {command}


def events(*rules):
    with Broker({config}) as broker:
{create}        for rule in rules:
            broker.faults.add(rule)
        address = broker.bootstrap_servers
        variables = {{"FAUXKA_BOOTSTRAP_SERVERS": address, "KAFKA_BOOTSTRAP_SERVERS": address}}
        command = [word.replace("{{bootstrap}}", address) for word in COMMAND]
        subprocess.run(command, env=os.environ | variables, timeout={timeout}, check={check})
        return Counter({event} for topic in {topics} for record in broker.records(topic) if {visible})


def test_events_are_{promise}():
    expected, found = events(), events(*RULES)
    {assertion}
'''
_VISIBLE = 'record.transaction in ("none", "committed") and not record.is_control'


def write_finding(folder: Path, finding: Finding, words: Sequence[str], options: Options, timeout: float) -> None:
    """Write the files of a finding to a folder. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    rules = [_json_of(rule) for rule in finding.trial.rules]
    (folder / RULES_FILE).write_text(json.dumps(rules, indent=1) + "\n")
    (folder / TEST_FILE).write_text(_test_text(finding, rules, words, options, timeout))
    calls = [f"curl -s $A/v1/rules -d {shlex.quote(json.dumps(rule))}" for rule in rules]
    (folder / CALLS_FILE).write_text("\n".join(["A=$(fauxka admin)", *calls]) + "\n")


def _test_text(
    finding: Finding, rules: Sequence[object], words: Sequence[str], options: Options, timeout: float
) -> str:
    setting = options.setting
    create = "".join(
        f"        broker.topics.create({topic!r}, partitions={partitions})\n"
        for topic, partitions in setting.seed_topics.items()
    )
    return _TEST.format(
        title=f"{finding.trial}: {'; '.join(finding.judgement.reasons)}".replace("\\", "\\\\").replace('"', "'"),
        rules=rules,
        command=list(words),
        config=dict(setting.config) or "",
        create=create,
        timeout=round(timeout),
        check=finding.judgement.outcome is Outcome.HUNG,
        event=expression_of(setting.event_id),
        topics=list(setting.topics),
        visible=_VISIBLE,
        promise=options.promise.value.replace("-", "_"),
        assertion=_ASSERTIONS[options.promise],
    )


def _json_of(rule: FaultRule) -> dict[str, object]:
    """Return the JSON of a rule without the fields that have their defaults."""
    fields = without_defaults(to_builtins(rule))
    when: dict[str, object] = to_builtins(rule.when)
    changed = {name: value for name, value in when.items() if value != DEFAULT_WHEN[name]}
    return {**fields, "when": changed} if changed else fields
