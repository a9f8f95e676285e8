"""The BROKER_LOGGER resource: one logger, "root", with the level of all fauxka logs.

Source: RuntimeLoggerManager, Kafka 4.3.0; tests/golden/configs-4.3.0.jsonl.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from ...protocol.error_codes import ErrorCode, KafkaError
from .config_resources import AlterConfigOp, OpType

ROOT = "root"
# Kafka's levels as Python's. Python has no TRACE: it enables everything.
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
    """Return the level of each logger by name, with Kafka's level names."""
    effective = _logger().getEffectiveLevel()
    at_least = [level for level in LEVELS if LEVELS[level] >= effective]
    return {ROOT: min(at_least, key=LEVELS.__getitem__, default="FATAL")}


def change_levels(ops: Sequence[AlterConfigOp], *, validate_only: bool) -> None:
    """Set levels. Raises KafkaError INVALID_CONFIG or INVALID_REQUEST; no level is changed then."""
    for op in ops:
        _check_op(op)
    if not validate_only:
        for op in ops:
            _logger().setLevel(LEVELS[op.value or ""])


def _check_op(op: AlterConfigOp) -> None:
    match op.op_type:
        case OpType.SET | OpType.DELETE if op.key != ROOT:
            raise KafkaError(ErrorCode.INVALID_CONFIG, f"Logger {op.key} does not exist!")
        case OpType.SET if op.value not in LEVELS:
            raise KafkaError(
                ErrorCode.INVALID_CONFIG,
                f"Cannot set the log level of {op.key} to {op.value} as it is not a supported log level. "
                f"Valid log levels are {', '.join(sorted(LEVELS))}",
            )
        case OpType.SET:
            return
        case OpType.DELETE:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Removing the log level of the root logger is not allowed")
        case OpType.APPEND | OpType.SUBTRACT:
            name = OpType(op.op_type).name
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, f"{name} operation is not allowed for the BROKER_LOGGER resource"
            )
        case _:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown operation type {op.op_type}")
