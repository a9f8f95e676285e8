"""The broker's loggers as a resource with configs: there is one, Kafka's "root", which is all that fauxka logs.

Source: RuntimeLoggerManager, Kafka 4.3.0; tests/golden/configs-4.3.0.jsonl.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from ...protocol.error_codes import ErrorCode, KafkaError
from .config_operations import Change, Operation

ROOT = "root"
# Kafka's levels in Python's numbers; Python has no TRACE, so it is all.
LEVELS = {
    "DEBUG": logging.DEBUG,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
    "INFO": logging.INFO,
    "TRACE": logging.NOTSET + 1,
    "WARN": logging.WARNING,
}


def _logger() -> logging.Logger:
    package, _, _ = __name__.partition(".")
    return logging.getLogger(package)


def levels() -> Mapping[str, str]:
    """Return the level of each logger, in Kafka's words."""
    effective = _logger().getEffectiveLevel()
    at_least = [level for level in LEVELS if LEVELS[level] >= effective]
    return {ROOT: min(at_least, key=LEVELS.__getitem__, default="FATAL")}


def change_levels(changes: Sequence[Change], *, validate_only: bool) -> None:
    """Set levels; raises KafkaError INVALID_CONFIG or INVALID_REQUEST, and changes nothing then."""
    for change in changes:
        _check(change)
    if not validate_only:
        for change in changes:
            _logger().setLevel(LEVELS[change.value or ""])


def _check(change: Change) -> None:
    match change.operation:
        case Operation.SET | Operation.DELETE if change.key != ROOT:
            raise KafkaError(ErrorCode.INVALID_CONFIG, f"Logger {change.key} does not exist!")
        case Operation.SET if change.value not in LEVELS:
            raise KafkaError(
                ErrorCode.INVALID_CONFIG,
                f"Cannot set the log level of {change.key} to {change.value} as it is not a supported log level. "
                f"Valid log levels are {', '.join(sorted(LEVELS))}",
            )
        case Operation.SET:
            return
        case Operation.DELETE:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Removing the log level of the root logger is not allowed")
        case Operation.APPEND | Operation.SUBTRACT:
            name = Operation(change.operation).name
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, f"{name} operation is not allowed for the BROKER_LOGGER resource"
            )
        case _:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown operation type {change.operation}")
