"""Environment variables that set nothing: which of them are mistakes, and what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...protocol.similar_names import find_similar
from .config_keys import BROKER_KEYS, find_similar_key

KAFKA_PREFIX = "KAFKA_"
OWN_PREFIX = "FAUXKA_"
# Read by the installation, and not by a broker.
BUILD_VARIABLES = frozenset({"FAUXKA_COMPILE"})
# What Kubernetes sets in every container for a service `kafka` or `fauxka-test`.
_SERVICE_LINK = re.compile(r"\w+_SERVICE_(HOST|PORT(_\w+)?)|\w+_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?", re.ASCII)
_SERVICE_ADDRESS = re.compile(r"(tcp|udp|sctp)://.*")
# The reverse of config_sources.SEPARATORS.
_SEPARATORS = str.maketrans({".": "_", "_": "__", "-": "___"})


def is_service_link(variable: str, value: str) -> bool:
    """Return whether Kubernetes sets this variable for a service."""
    if variable.endswith("_PORT") and _SERVICE_ADDRESS.fullmatch(value):
        return True
    return _SERVICE_LINK.fullmatch(variable) is not None


def variable_of(key: str) -> str:
    """Return the variable that sets a key: KAFKA_LOG_RETENTION_MS for log.retention.ms."""
    return KAFKA_PREFIX + key.translate(_SEPARATORS).upper()


def unknown_key_warning(variable: str, key: str) -> str:
    """Return the warning for a KAFKA_ variable whose key does not exist."""
    similar = find_similar_key(key)
    hint = f"; did you mean {variable_of(similar)}?" if similar else ""
    return f"{variable} in the environment has no effect: Kafka has no key {key}{hint}"


def own_variable_warnings(environment: Mapping[str, str], options: Mapping[str, str | None]) -> list[str]:
    """Return a warning for each FAUXKA_ variable that no option has.

    options: the variable of each option of the command line, such as "--host"; None for an option without one.
    """
    known = {*options.values(), *BUILD_VARIABLES}
    unknown = [
        variable
        for variable, value in environment.items()
        if variable.startswith(OWN_PREFIX) and variable not in known and not is_service_link(variable, value)
    ]
    if not unknown:
        return []
    meanings = {_own_name(option.lstrip("-")): variable or option for option, variable in options.items()}
    # Someone may write FAUXKA_ for KAFKA_ before a key, which for a key of fauxka stands there too.
    meanings |= {_own_name(key.removeprefix("fauxka.")): variable_of(key) for key in BROKER_KEYS}
    return [_own_warning(variable, meanings) for variable in unknown]


def _own_name(name: str) -> str:
    return re.sub(r"[.-]", "_", name).upper()


def _own_warning(variable: str, meanings: Mapping[str, str]) -> str:
    similar = find_similar(variable.removeprefix(OWN_PREFIX), meanings)
    hint = f"; did you mean {meanings[similar]}?" if similar else ""
    return f"{variable} in the environment has no effect: no option has this variable{hint}"
