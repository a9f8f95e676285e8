"""Fault rules in a file: for `fauxka serve --rules` and `fauxka fault add --file`.

The file is JSON, or TOML if its name ends in .toml: a list of rules, an object with the list as `rules` (in TOML
[[rules]]) or as `items` (as the admin API lists them), or one rule. Rules have the form of POST /v1/rules; in TOML, inf
stands for null: `times = inf`.
"""

from __future__ import annotations

import os
import tomllib
from math import isinf
from typing import cast

from ..faults import strict_json
from ..faults.rule_error import InvalidValueError, RuleError
from ..faults.rules.fault_rules import FaultRule
from ..faults.rules.rule_checks import ANSWER_FIELDS, check_rule
from ..faults.rules.rule_list import RULES_MAX
from ..storage.file_systems.path_problems import find_path_problem

# A rule has a hundred bytes; RULES_MAX rules with long lists have a few megabytes.
RULE_FILE_BYTES_MAX = 16 * 1024 * 1024
TOML_SUFFIX = ".toml"
_LISTS = ("rules", "items")


class RuleFileError(Exception):
    """A rule in the file is invalid, or the file cannot be read. The message is one line for the user."""


def read_rule_file(path: str) -> list[FaultRule]:
    """Return the rules of a file, checked. Raises RuleFileError with the path, the number of the rule and the field."""
    rules = _rules_in(_document_in(path), path)
    if len(rules) > RULES_MAX:
        raise RuleFileError(f"{path} has {len(rules)} rules; at most {RULES_MAX} are allowed")
    return [_rule_of(rule, f"{path}: rule {number}") for number, rule in enumerate(rules, 1)]


def decode_rule(text: str) -> FaultRule:
    """Return the rule that a JSON text has, in the form of POST /v1/rules. Raises RuleError."""
    return strict_json.decode(text.encode(), FaultRule, ANSWER_FIELDS)


def _document_in(path: str) -> object:
    try:
        with open(path, "rb") as file:
            content = file.read(RULE_FILE_BYTES_MAX + 1)
    except OSError as error:
        raise RuleFileError(find_path_problem(path, error) or f"{path}: {error.strerror}") from error
    if len(content) > RULE_FILE_BYTES_MAX:
        raise RuleFileError(f"{path} has more than {RULE_FILE_BYTES_MAX} bytes; is it a file of rules?")
    if os.path.splitext(path)[1].lower() == TOML_SUFFIX:
        return _parse_toml(content, path)
    try:
        return strict_json.parse(content)
    except InvalidValueError as error:
        raise RuleFileError(f"{path}: {error.message.replace('the body', 'the file')}") from error


def _parse_toml(content: bytes, path: str) -> object:
    try:
        return _without_infinity(tomllib.loads(content.decode()))
    except RecursionError as error:
        raise RuleFileError(f"{path}: the file is nested too deeply") from error
    except ValueError as error:
        # Also for an integer with more digits than Python converts.
        raise RuleFileError(f"{path}: the file is not TOML: {error}") from error


def _without_infinity(value: object) -> object:
    """Return a value of TOML, which has no null, with None instead of inf."""
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        return {name: _without_infinity(each) for name, each in fields.items()}
    if isinstance(value, list):
        return [_without_infinity(each) for each in cast("list[object]", value)]
    return None if isinstance(value, float) and isinf(value) else value


def _rules_in(document: object, path: str) -> list[object]:
    if isinstance(document, list):
        return cast("list[object]", document)
    if not isinstance(document, dict):
        raise RuleFileError(f"{path}: expected a list of rules, an object with the list as `rules`, or a rule")
    fields = cast("dict[str, object]", document)
    for name in _LISTS:
        if name not in fields:
            continue
        rules = fields[name]
        # Responses with `items` have `next`, the position of the next page.
        unknown = sorted(fields.keys() - {name, *(["next"] if name == "items" else [])})
        if unknown:
            raise RuleFileError(f"{path}: {unknown[0]} is not a known field next to {name}")
        if not isinstance(rules, list):
            raise RuleFileError(f"{path}: {name} is not a list of rules")
        return cast("list[object]", rules)
    return [fields]


def _rule_of(document: object, place: str) -> FaultRule:
    if isinstance(document, dict):
        fields = cast("dict[str, object]", document)
        document = {name: value for name, value in fields.items() if name not in ANSWER_FIELDS}
    try:
        rule = strict_json.convert(document, FaultRule)
        check_rule(rule)
    except RuleError as error:
        raise RuleFileError(f"{place}: {error.message.replace('the body', 'the rule')}") from error
    return rule
