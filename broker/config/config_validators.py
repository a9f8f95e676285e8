"""Validation rules of config values, with Kafka's error messages.

A rule is the fourth column of config_table.py: "range 1 -", "in a,b", "in_any_case a,b", "list empty null in:a,b",
"message_format 2.8" or "other ...".
Source: ConfigDef.Range, ValidString, CaseInsensitiveValidString, ValidList and validators of single keys, Kafka 4.3.0.
"""

from __future__ import annotations

import re

from .config_types import ConfigError, ConfigValue, invalid_value

# The format of throttled replicas, and how Kafka described it before 2.3.
THROTTLED_REPLICAS = (
    "[partitionId]:[brokerId],[partitionId]:[brokerId],...",
    "[partitionId],[brokerId]:[partitionId],[brokerId]:...",
)
# A version of the message format: a release, and a number within it that may be left out.
FORMAT_VERSION = r"(\d{1,2})\.(\d{1,2})(\.\d{1,2})*(-IV\d)?"


def check_value(name: str, value: ConfigValue, rule: str) -> None:
    """Raise ConfigError if the value violates the rule."""
    kind, _, rest = rule.partition(" ")
    match kind:
        case "range":
            check_range(name, value, rest)
        case "in":
            check_one_of(name, value, rest.split(","))
        case "in_any_case":
            if str(value).upper() not in rest.split(","):
                allowed = rest.replace(",", ", ")
                raise invalid_value(name, value, f"String must be one of (case insensitive): {allowed}")
        case "list":
            check_list(name, value, rest)
        case "message_format":
            check_message_format(name, value, rest)
        case "other":
            check_other(name, value, rest)
        case _:
            assert rule == "", f"unknown rule {rule}"


def check_range(name: str, value: ConfigValue, bounds: str) -> None:
    """Raise ConfigError if a number is out of bounds. bounds: "minimum maximum"; "-" means unbounded."""
    low, high = bounds.split(" ")
    if value is None:
        return
    assert isinstance(value, int | float), f"{name} has a range and is not a number"
    # Both comparisons are false for NaN: Kafka accepts it.
    if low != "-" and value < float(low):
        raise invalid_value(name, value, f"Value must be at least {low}")
    if high != "-" and value > float(high):
        raise invalid_value(name, value, f"Value must be no more than {high}")


def check_one_of(name: str, value: ConfigValue, allowed: list[str]) -> None:
    """Raise ConfigError if the value is not in allowed."""
    if value not in allowed:
        raise invalid_value(name, value, f"String must be one of: {', '.join(allowed)}")


def check_list(name: str, value: ConfigValue, rest: str) -> None:
    """Raise ConfigError if a list is empty, or has an item that is empty or not allowed."""
    flags, _, allowed_text = rest.partition("in:")
    allowed = allowed_text.split(",") if allowed_text else []
    if not isinstance(value, list):
        return
    if not value and "empty" not in flags.split():
        valid = f"[{', '.join(allowed)}]" if allowed else "any non-empty value"
        raise ConfigError(f"Configuration '{name}' must not be empty. Valid values include: {valid}")
    for item in value:
        if item == "":
            raise ConfigError(f"Configuration '{name}' values must not be empty.")
        if allowed:
            check_one_of(name, item, allowed)


def check_other(name: str, value: ConfigValue, rest: str) -> None:
    """Raise ConfigError if the value violates a rule that only one key has."""
    match rest:
        case "[1,...,9] or -1":
            if not isinstance(value, int) or not (1 <= value <= 9 or value == -1):
                raise invalid_value(name, value, "Value must be between 1 and 9 or equal to -1")
        case "non-empty string":
            if value == "":
                raise invalid_value(name, value, "String must be non-empty")
        case _ if rest in THROTTLED_REPLICAS:
            check_throttled_replicas(name, value, rest)
        case _:
            # Rules for a controller quorum, an authorizer and durations of share groups, which have no effect here.
            pass


def check_throttled_replicas(name: str, value: ConfigValue, shown: str) -> None:
    """Raise ConfigError if the value is neither "*" nor a list of partition:broker. Empty items are allowed.

    shown: the format in the message.
    """
    assert isinstance(value, list), f"{name} is a list"
    if value[:1] == ["*"] or all(re.fullmatch(r"([0-9]+:[0-9]+)?", replica) for replica in value):
        return
    reason = f"{name} must be the literal '*' or a list of replicas in the following format: {shown}"
    raise invalid_value(name, value, reason)


def check_message_format(name: str, value: ConfigValue, newest: str) -> None:
    """Raise ConfigError if the value is no version of the message format from 0.8 to newest, such as "2.8".

    Source: ApiVersion.apply, Kafka 2.8.2. The second number of a version is not compared.
    """
    parts = re.fullmatch(FORMAT_VERSION, str(value))
    major, _, minor = newest.partition(".")
    if parts is None or not (0, 8) <= (int(parts[1]), int(parts[2])) <= (int(major), int(minor)):
        raise invalid_value(name, value, f"Version `{value}` is not a valid version")
