"""An offset checkpoint as a start finds it."""

from __future__ import annotations

import logging

from ..corrupt_file import CorruptFileError
from ..file_systems.file_system import FileSystem, read_whole
from ..log_files import PartitionName
from .checkpoint_files import decode_offsets

logger = logging.getLogger(__name__)


def read_offsets(file_system: FileSystem, name: str) -> dict[PartitionName, int]:
    """Return what the checkpoint file says; nothing where it is missing or, with a warning, damaged. Raises OSError.

    Source: LogManager.loadLogs, Kafka 4.3.0.
    """
    if not file_system.exists(name):
        return {}
    try:
        return decode_offsets(read_whole(file_system, name))
    except CorruptFileError as error:
        logger.warning("%s is taken as empty: %s", name, error)
        return {}
