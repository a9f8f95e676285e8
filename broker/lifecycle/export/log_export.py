"""The command `fauxka export`: from a running broker, or from a data folder, to a folder for a real Kafka."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ....storage.corrupt_file import CorruptFileError
from ...runtime.clock import AdjustableClock
from ..blocking_connection import ConnectionFailed
from ..data_directory import DataDirectoryError
from .kafka_folder import ExportedCluster, ExportError, KafkaFolder
from .server_properties import SERVER_PROPERTIES

PORT_MAX = 65535

Say = Callable[[str], None]


def export(path: str, *, data_folder: str | None, bootstrap: str | None, say: Say) -> None:
    """Write all topics of a data folder, or of the broker at bootstrap ("host:port"), to path.

    say: takes the lines on how it goes. Raises ExportError; path then has no meta.properties, and may be deleted.
    """
    if (data_folder is None) == (bootstrap is None):
        raise ExportError("say where the topics are: either --data-dir or --from")
    try:
        folder = KafkaFolder(Path(path))
        cluster = _from_folder(data_folder, folder, say) if data_folder else _from_broker(bootstrap or "", folder, say)
        folder.finish(cluster, AdjustableClock().now_ms())
    except (ConnectionFailed, CorruptFileError, DataDirectoryError, OSError) as error:
        raise ExportError(str(error)) from error
    partitions = sum(len(topic.partitions) for topic in cluster.topics)
    say(f"exported to {folder.path}: topics {len(cluster.topics)}, partitions {partitions}")
    say(f"start a Kafka 4.3 on it with: kafka-server-start.sh {folder.path / SERVER_PROPERTIES}")


def _from_broker(bootstrap: str, folder: KafkaFolder, say: Say) -> ExportedCluster:
    from .running_broker import RunningBroker

    host, _, port = bootstrap.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) <= PORT_MAX:
        raise ExportError(f"--from takes host:port, not {bootstrap!r}")
    broker = RunningBroker(host.removeprefix("[").removesuffix("]"), int(port))
    try:
        return broker.export(folder, say)
    finally:
        broker.close()


def _from_folder(data_folder: str, folder: KafkaFolder, say: Say) -> ExportedCluster:
    from .data_folder import export_data_folder

    return export_data_folder(Path(data_folder), folder, say)
