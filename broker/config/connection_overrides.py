"""The keys max.connections.per.ip and max.connections.per.ip.overrides.

Source: KafkaConfig.validateValues and Csv.parseCsvMap, Kafka 4.3.0; tests/golden/connection_limits-4.3.0.jsonl.
"""

from __future__ import annotations

import re

from ...security.java_text import trim
from .config_types import ConfigError, ConfigType, ConfigValue, parse_integer

MAX_CONNECTIONS_PER_IP = "max.connections.per.ip"
OVERRIDES = "max.connections.per.ip.overrides"
# The characters that Kafka allows in a host (Utils.validHostPattern).
_HOST = r"[0-9a-zA-Z\-%._:]*"


def parse_overrides(text: str) -> dict[str, int]:
    """Return the maximum by host of "host:count,...". An IPv6 address has no brackets. Raises ConfigError."""
    overrides: dict[str, int] = {}
    for item in re.split(r"\s*,\s*", text.rstrip(", "), flags=re.ASCII) if text else []:
        host, separator, count = item.rpartition(":")
        if not separator:
            # Kafka's message is that of the failed Java call.
            reason = f"begin 0, end -1, length {len(item)}"
            raise ConfigError(f"Error parsing configuration property '{OVERRIDES}': {reason}")
        overrides[trim(host)] = _parse_count(trim(count))
    invalid = [host for host in overrides if re.fullmatch(_HOST, host) is None]
    if invalid:
        raise ConfigError(f"{OVERRIDES} contains invalid addresses : {','.join(invalid)}")
    return overrides


def _parse_count(text: str) -> int:
    try:
        return parse_integer(OVERRIDES, ConfigType.INT, text)
    except ConfigError as error:
        # Kafka's message is that of Java's NumberFormatException.
        raise ConfigError(f'For input string: "{text}"') from error


def check_connection_limits(maximum: ConfigValue, overrides: ConfigValue) -> None:
    """Raise ConfigError if no address may connect, or if the overrides cannot be parsed."""
    if maximum == 0 and not overrides:
        raise ConfigError(
            f"requirement failed: {MAX_CONNECTIONS_PER_IP} can be set to zero only if {OVERRIDES} property is set."
        )
    if isinstance(overrides, str):
        parse_overrides(overrides)
