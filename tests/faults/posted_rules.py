"""Rules as posted over HTTP: decoded strictly, without the fields of responses, and checked."""

from __future__ import annotations

from fauxka.faults.files.file_rules import FileRule, check_file_rule
from fauxka.faults.rules.fault_rules import FaultRule
from fauxka.faults.rules.rule_checks import ANSWER_FIELDS, check_rule
from fauxka.faults.strict_json import decode


def decode_rule(data: bytes) -> FaultRule:
    rule = decode(data, FaultRule, ANSWER_FIELDS)
    check_rule(rule)
    return rule


def decode_file_rule(data: bytes) -> FileRule:
    rule = decode(data, FileRule, ANSWER_FIELDS)
    check_file_rule(rule)
    return rule
