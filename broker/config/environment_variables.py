"""Environment variables that set nothing: which of them are mistakes, and what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...protocol.similar_names import find_similar
from .config_keys import BROKER_KEYS, ReleaseKeys

KAFKA_PREFIX = "KAFKA_"
OWN_PREFIX = "FAUXKA_"
# Read by the installation, and not by a broker.
BUILD_VARIABLES = frozenset({"FAUXKA_COMPILE"})
# The addresses of a running broker, for commands and tests.
CLIENT_VARIABLES = frozenset({
    "FAUXKA_ADMIN", "FAUXKA_ADMIN_CA", "FAUXKA_BOOTSTRAP", "FAUXKA_BOOTSTRAP_SERVERS",
})  # fmt: skip
# What Kubernetes sets in every container for a service `kafka` or `fauxka-test`.
_SERVICE_LINK = re.compile(r"\w+_SERVICE_(HOST|PORT(_\w+)?)|\w+_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?", re.ASCII)
_SERVICE_ADDRESS = re.compile(r"(tcp|udp|sctp)://.*")
# Keys of Kafka 3.9.1 that 4.3.0 has no more, without those of ZooKeeper's clients; from KafkaConfig.configDef of both.
_REMOVED_KEYS = frozenset({
    "auto.include.jmx.reporter", "broker.id.generation.enable", "control.plane.listener.name",
    "controlled.shutdown.max.retries", "controlled.shutdown.retry.backoff.ms", "delegation.token.master.key",
    "eligible.leader.replicas.enable", "group.coordinator.new.enable", "group.share.enable", "group.share.max.groups",
    "inter.broker.protocol.version", "leader.imbalance.per.broker.percentage", "log.message.downconversion.enable",
    "log.message.format.version", "log.message.timestamp.difference.max.ms", "metadata.log.segment.min.bytes",
    "offsets.commit.required.acks", "reserved.broker.max.id",
})  # fmt: skip
# What other images, and other versions of Kafka's, call CLUSTER_ID.
_CLUSTER_ID_VARIABLES = frozenset({"KAFKA_CLUSTER_ID", "KAFKA_KRAFT_CLUSTER_ID"})
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


def reason_to_ignore(key: str) -> str | None:
    """Return why a key that is none of Kafka 4.4's is no mistake in an environment; None if it may be one."""
    if key in _REMOVED_KEYS or key.startswith(("zookeeper.", "password.encoder.")):
        return "no key of Kafka 4"
    if key.startswith("confluent."):
        return "a key of Confluent's server"
    return None


def unknown_key_warning(variable: str, key: str, keys: ReleaseKeys) -> str:
    """Return the warning for a KAFKA_ variable whose key is not in keys."""
    similar = keys.find_similar_key(key)
    meant = "CLUSTER_ID" if variable in _CLUSTER_ID_VARIABLES else variable_of(similar) if similar else None
    hint = f"; did you mean {meant}?" if meant else ""
    return f"{variable} in the environment has no effect: Kafka has no key {key}{hint}"


def own_variable_warnings(environment: Mapping[str, str], options: Mapping[str, str | None]) -> list[str]:
    """Return a warning for each FAUXKA_ variable that no option has.

    options: the variable of each option of the command line, such as "--host"; None for an option without one.
    """
    known = {*options.values(), *BUILD_VARIABLES, *CLIENT_VARIABLES}
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
