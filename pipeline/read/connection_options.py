"""Options for the connections to a broker: `kafka.*` as Spark's format kafka has them, and `commandConfig`.

Files that the options name are read where the options are parsed, which is on the driver.
"""

from __future__ import annotations

from collections.abc import Mapping

from ... import ConfigError
from ...client.client_security import ClientSecurity
from ...client.security_properties import parse_client_security
from ...storage.checkpoints.properties_file import read_properties_file
from ..bad_option import BadOption

KAFKA_PREFIX = "kafka."
COMMAND_CONFIG = "commandConfig"
_TIMEOUT = "timeoutMs"


def parse_security(options: Mapping[str, str]) -> ClientSecurity:
    """Return the security of connections, with the content of the files that the options name. Raises BadOption."""
    properties = properties_of(options)
    try:
        return parse_client_security(properties)
    except ConfigError as error:
        raise BadOption(str(error)) from None


def properties_of(options: Mapping[str, str]) -> dict[str, str]:
    """Return the properties of Kafka's clients: the options kafka.* precede those in a file. Raises BadOption.

    Names of options are case-insensitive, and those of properties are in lower case.
    """
    given = {name.lower(): value for name, value in options.items()}
    file = given.get(COMMAND_CONFIG.lower())
    own = {name.removeprefix(KAFKA_PREFIX): value for name, value in given.items() if name.startswith(KAFKA_PREFIX)}
    if file is None:
        return own
    try:
        return {**read_properties_file(file), **own}
    except ConfigError as error:
        raise BadOption(f"{COMMAND_CONFIG}: {error}") from None


def connection_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options that another log on the same cluster has too, without its place and its topics."""
    shared = (COMMAND_CONFIG.lower(), _TIMEOUT.lower())
    return {
        name: value
        for name, value in options.items()
        if name.lower() in shared or name.lower().startswith(KAFKA_PREFIX)
    }
