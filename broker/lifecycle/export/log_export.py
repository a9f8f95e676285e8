"""The export command: from a running broker or a data folder to a data folder for a real Kafka."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ....storage.corrupt_file import CorruptFileError
from ...runtime.clock import AdjustableClock
from ..blocking_connection import ConnectionFailed
from ..data_directory import DataDirectoryError
from .data_folder import export_data_folder
from .kafka_folder import ExportedCluster, ExportError, KafkaFolder
from .running_broker import RunningBroker
from .server_properties import SERVER_PROPERTIES

PORT_MAX = 65535

ReportLine = Callable[[str], None]


def export(
    path: str, *, data_folder: str | None, bootstrap: str | None, report: ReportLine, within: Path | None = None
) -> None:
    """Write all topics of a data folder, or of the broker at bootstrap ("host:port,host:port"), to the folder at path.

    report: called with each line of the progress. within: see KafkaFolder.
    Raises ExportError; nothing that was written is left then.
    """
    if (data_folder is None) == (bootstrap is None):
        raise ExportError("give either --data-dir or --from")
    try:
        folder = KafkaFolder(Path(path), within)
        try:
            cluster = (
                export_data_folder(Path(data_folder), folder, report)
                if data_folder
                else _export_broker(bootstrap or "", folder, report)
            )
            folder.finish(cluster, AdjustableClock().now_ms())
        except BaseException:
            folder.discard()
            raise
    except (ConnectionFailed, CorruptFileError, DataDirectoryError, OSError) as error:
        raise ExportError(str(error)) from error
    partitions = sum(len(topic.partitions) for topic in cluster.topics)
    report(f"exported to {folder.path}: topics {len(cluster.topics)}, partitions {partitions}")
    report(f"start a Kafka 4.3 on it with: kafka-server-start.sh {folder.path / SERVER_PROPERTIES}")


def _export_broker(bootstrap: str, folder: KafkaFolder, report: ReportLine) -> ExportedCluster:
    broker = _connected([_address_of(text) for text in bootstrap.split(",")])
    try:
        return broker.export(folder, report)
    finally:
        broker.close()


def _connected(addresses: list[tuple[str, int]]) -> RunningBroker:
    """Return the first broker that can be reached. Raises ConnectionFailed of the last one."""
    *others, last = addresses
    for host, port in others:
        with suppress(ConnectionFailed):
            return RunningBroker(host, port)
    return RunningBroker(*last)


def _address_of(text: str) -> tuple[str, int]:
    """Return host and port of "host:port". Raises ExportError."""
    host, _, port = text.strip().rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) <= PORT_MAX:
        raise ExportError(f"--from must be host:port, not {text!r}")
    return host.removeprefix("[").removesuffix("]"), int(port)
