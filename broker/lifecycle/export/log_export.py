"""The export command: from a running broker or a data folder to a data folder for a real Kafka."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .... import ConfigError
from ....client.bootstrap import connect_to_first
from ....client.broker_connection import BrokerConnection
from ....client.errors import BrokerError
from ....client.security_properties import parse_client_security
from ....storage.corrupt_file import CorruptFileError
from ...runtime.clock import AdjustableClock
from ..data_directory import DataDirectoryError
from .data_folder import export_data_folder
from .kafka_folder import ExportedCluster, ExportError, KafkaFolder
from .running_broker import TIMEOUT_SECONDS, InternalConnection, RunningBroker
from .server_properties import SERVER_PROPERTIES

if TYPE_CHECKING:
    import socket

PORT_MAX = 65535

ReportLine = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BrokerSource:
    """A running broker. bootstrap: "host:port,host:port". properties: of Kafka's clients, with the security."""

    bootstrap: str
    properties: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


@dataclass(frozen=True, slots=True)
class OwnSource:
    """The broker of this process. connect: returns a connected socket to a node, which needs no security.

    node_id: of the first node to ask.
    """

    node_id: int
    connect: Callable[[int], socket.socket]


def export(
    path: str,
    *,
    data_folder: str | None,
    broker: BrokerSource | OwnSource | None,
    report: ReportLine,
    within: Path | None = None,
) -> None:
    """Write all topics of a data folder, or of a running broker, to the folder at path.

    report: called with each line of the progress. within: see KafkaFolder.
    Raises ExportError; nothing that was written is left then.
    """
    if (data_folder is None) == (broker is None):
        raise ExportError("give either --data-dir or --from")
    try:
        folder = KafkaFolder(Path(path), within)
        try:
            if broker is not None:
                cluster = _export_broker(broker, folder, report)
            else:
                assert data_folder is not None, "exactly one of both is given"
                cluster = export_data_folder(Path(data_folder), folder, report)
            folder.finish(cluster, AdjustableClock().now_ms())
        except BaseException:
            folder.discard()
            raise
    except (CorruptFileError, DataDirectoryError, OSError) as error:
        raise ExportError(str(error)) from error
    partitions = sum(len(topic.partitions) for topic in cluster.topics)
    report(f"exported to {folder.path}: topics {len(cluster.topics)}, partitions {partitions}")
    report(f"start a Kafka, 4.3 or later, on it with: kafka-server-start.sh {folder.path / SERVER_PROPERTIES}")


def _export_broker(source: BrokerSource | OwnSource, folder: KafkaFolder, report: ReportLine) -> ExportedCluster:
    try:
        broker = _own_broker(source) if isinstance(source, OwnSource) else _other_broker(source)
        try:
            return broker.export(folder, report)
        finally:
            broker.close()
    except (BrokerError, ConfigError) as error:
        raise ExportError(str(error)) from error


def _own_broker(source: OwnSource) -> RunningBroker:
    def connect(node_id: int) -> InternalConnection:
        return InternalConnection(node_id, source.connect(node_id))

    return RunningBroker(connect(source.node_id), lambda broker: connect(broker.node_id))


def _other_broker(source: BrokerSource) -> RunningBroker:
    security = parse_client_security(source.properties)

    def connect(host: str, port: int) -> BrokerConnection:
        return BrokerConnection(host, port, timeout_seconds=TIMEOUT_SECONDS, security=security)

    bootstrap = connect_to_first([_address_of(text) for text in source.bootstrap.split(",")], connect)
    return RunningBroker(bootstrap, lambda broker: connect(broker.host, broker.port))


def _address_of(text: str) -> tuple[str, int]:
    """Return host and port of "host:port". Raises ExportError."""
    host, _, port = text.strip().rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) <= PORT_MAX:
        raise ExportError(f"--from must be host:port, not {text!r}")
    return host.removeprefix("[").removesuffix("]"), int(port)
