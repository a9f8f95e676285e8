"""A finding as files that show it again: rules, a test for pytest, and calls of the admin API."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ..faults.rules.fault_rules import FaultRule
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


def rules_json(rules: Sequence[FaultRule]) -> str:
    """Return the rules as `fauxka serve --rules` and `fauxka hunt --replay` read them."""
    return json.dumps([_without_defaults(rule) for rule in rules], indent=1) + "\n"


def write_finding(folder: Path, finding: Finding, words: Sequence[str], options: Options, timeout: float) -> None:
    """Write the files of a finding to a folder. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    rules = finding.trial.rules
    (folder / RULES_FILE).write_text(rules_json(rules))
    (folder / TEST_FILE).write_text(_test_text(finding, words, options, timeout))
    calls = [f"curl -s $A/v1/rules -d {shlex.quote(json.dumps(_without_defaults(rule)))}" for rule in rules]
    (folder / CALLS_FILE).write_text("\n".join(["A=$(fauxka admin)", *calls]) + "\n")


def _test_text(finding: Finding, words: Sequence[str], options: Options, timeout: float) -> str:
    setting = options.setting
    create = "".join(
        f"        broker.topics.create({topic!r}, partitions={partitions})\n"
        for topic, partitions in setting.seed_topics.items()
    )
    return _TEST.format(
        title=f"{finding.trial}: {'; '.join(finding.judgement.reasons)}".replace("\\", "\\\\").replace('"', "'"),
        rules=[_without_defaults(rule) for rule in finding.trial.rules],
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


def _without_defaults(rule: FaultRule) -> dict[str, object]:
    return _pruned(msgspec.to_builtins(rule), msgspec.to_builtins(FaultRule(point=rule.point, action=rule.action)))


def _pruned(given: dict[str, object], default: dict[str, object]) -> dict[str, object]:
    kept = {
        name: {key: value for key, value in field.items() if value != inner.get(key)}
        if isinstance(field, dict) and isinstance(inner := default.get(name), dict) and name != "action"
        else field
        for name, field in given.items()
    }
    return {
        name: value
        for name, value in kept.items()
        if name in ("point", "action") or (value and value != default.get(name))
    }
