"""The types of config values: parsing, formatting and Kafka's error messages."""

from __future__ import annotations

import math
import re
from enum import IntEnum

from ... import ConfigError as ConfigError
from ...security.java_text import equals_ignore_case, trim

ConfigValue = bool | int | float | str | list[str] | None

# The re module compiles and caches these patterns at their first use.
INTEGER = r"[+-]?\d+"
# The numbers that Java's Double.parseDouble accepts: without Python's underscores.
FLOAT = r"[+-]?(NaN|Infinity|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)[fFdD]?"


class UnknownConfigKey(ConfigError):
    """A key that does not exist."""


class ConfigType(IntEnum):
    """The config types of DescribeConfigs responses."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


INTEGER_BITS = {ConfigType.SHORT: 16, ConfigType.INT: 32, ConfigType.LONG: 64}


def invalid_value(name: str, value: ConfigValue, reason: str) -> ConfigError:
    """Return the error for a value, with the message of Kafka's ConfigException."""
    return ConfigError(f"Invalid value {java_text_of(value)} for configuration {name}: {reason}")


def java_text_of(value: ConfigValue) -> str:
    """Return the value as Java prints it in a message."""
    match value:
        case bool():
            return "true" if value else "false"
        case list():
            return f"[{', '.join(value)}]"
        case None:
            return "null"
        case float():
            return java_text_of_float(value)
        case _:
            return str(value)


def java_text_of_float(value: float) -> str:
    """Return the value as Double.toString does: with an exponent below 0.001 and from 10000000 on."""
    if math.isnan(value) or math.isinf(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    # The package is loaded only for a number with an exponent.
    from decimal import Decimal

    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int), "neither infinite nor not a number"
    fraction = "".join(map(str, digits[1:])) or "0"
    return f"{'-' if sign else ''}{digits[0]}.{fraction}E{exponent + len(digits) - 1}"


def text_of(value: ConfigValue) -> str | None:
    """Return the value as DescribeConfigs returns it (ConfigDef.convertToString)."""
    match value:
        case None:
            return None
        case list():
            return ",".join(value)
        case _:
            return java_text_of(value)


def parse_value(name: str, config_type: ConfigType, text: str) -> ConfigValue:
    """Parse the text of a value. Raises ConfigError. Source: ConfigDef.parseType, Kafka 4.3.0."""
    trimmed = trim(text)
    match config_type:
        case ConfigType.BOOLEAN:
            return parse_boolean(name, trimmed)
        case ConfigType.INT | ConfigType.SHORT | ConfigType.LONG:
            return parse_integer(name, config_type, trimmed)
        case ConfigType.DOUBLE:
            if re.fullmatch(FLOAT, trimmed) is None:
                raise invalid_value(name, text, "Not a number of type DOUBLE")
            return float(trimmed.rstrip("fFdD") if trimmed[-1:] in "fFdD" else trimmed)
        case ConfigType.LIST:
            return re.split(r"\s*,\s*", trimmed, flags=re.ASCII) if trimmed else []
        case ConfigType.STRING | ConfigType.CLASS | ConfigType.PASSWORD:
            return trimmed


def parse_boolean(name: str, text: str) -> bool:
    """Parse "true" or "false" in any case. Raises ConfigError."""
    for value in (True, False):
        if equals_ignore_case(text, str(value)):
            return value
    raise invalid_value(name, text, "Expected value to be either true or false")


def parse_integer(name: str, config_type: ConfigType, text: str) -> int:
    """Parse an integer of the type's size. Raises ConfigError."""
    bound = 1 << (INTEGER_BITS[config_type] - 1)
    # Longer numbers never fit; this bounds the time of int().
    digits_max = 64
    if re.fullmatch(INTEGER, text) is None or len(text) > digits_max or not -bound <= int(text) < bound:
        raise invalid_value(name, text, f"Not a number of type {config_type.name}")
    return int(text)
