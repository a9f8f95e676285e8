"""server.properties: the settings that a real Kafka is started with on an exported folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ....storage.checkpoints.properties_file import escaped_value

SERVER_PROPERTIES = "server.properties"

# The one broker, which is its own controller.
NODE_ID = 1
BROKER_PORT = 9092
CONTROLLER_PORT = 9093

# What of the broker's own settings is handed on: what decides how logs, producers, transactions and groups are treated.
# Listeners, identities and folders are another broker's there.
KEPT_PREFIXES = (
    "auto.create.",
    "compression.",
    "delete.topic.",
    "group.",
    "log.",
    "message.max.",
    "num.partitions",
    "offsets.",
    "producer.id.",
    "transaction.",
    "transactional.",
)
# Folders, and what a single broker has no choice about.
DROPPED = frozenset(
    {
        "log.dir",
        "log.dirs",
        "offsets.topic.replication.factor",
        "transaction.state.log.min.isr",
        "transaction.state.log.replication.factor",
    }
)


def kept_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Return of a broker's settings those that an exported folder is to be served with."""
    return {name: value for name, value in settings.items() if name.startswith(KEPT_PREFIXES) and name not in DROPPED}


def server_properties(folder: Path, settings: Mapping[str, str]) -> bytes:
    """Return the file with which Kafka serves the folder on 127.0.0.1 with these settings."""
    entries = {
        "process.roles": "broker,controller",
        "node.id": str(NODE_ID),
        "controller.quorum.voters": f"{NODE_ID}@127.0.0.1:{CONTROLLER_PORT}",
        "listeners": f"PLAINTEXT://127.0.0.1:{BROKER_PORT},CONTROLLER://127.0.0.1:{CONTROLLER_PORT}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{BROKER_PORT}",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": str(folder),
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        **kept_settings(settings),
    }
    return "".join(f"{name}={escaped_value(value)}\n" for name, value in entries.items()).encode("ascii")
