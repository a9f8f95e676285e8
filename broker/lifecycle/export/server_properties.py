"""The server.properties of an export, with which a real Kafka serves the folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ....storage.checkpoints.properties_file import escaped_value

SERVER_PROPERTIES = "server.properties"

# The only broker, which is also the controller.
NODE_ID = 1
BROKER_PORT = 9092
CONTROLLER_PORT = 9093

# The exported broker configs: those of logs, producers, transactions and groups, without listeners, ids and folders.
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
# Folders, and keys that must be 1 with a single broker.
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
    """Return the broker configs that are exported."""
    return {name: value for name, value in settings.items() if name.startswith(KEPT_PREFIXES) and name not in DROPPED}


def server_properties(folder: Path, settings: Mapping[str, str]) -> bytes:
    """Return the content of server.properties: Kafka serves the folder on 127.0.0.1 with these settings."""
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
