"""Names of segment files in the remote tier of a log (KIP-405), as two public plug-ins write them.

- Kafka's LocalTieredStorage: `topic-partition-<topic id>/<offset>-<segment id>.log`, beside its indexes.
- Aiven's tiered-storage-for-apache-kafka: `topic-<topic id>/<partition>/<offset>-<segment id>.log`, beside one file of
  all indexes and the manifest `.rsm-manifest`, which is written last. A segment without one is not whole. Its bytes are
  those of the segment, unless the manifest says that they are compressed or encrypted.

An id is a UUID in 22 characters. Source: RemoteLogSegmentFileset, Kafka 4.3.0; ObjectKeyFactory and SegmentManifestV1
of the plug-in, version 1.1.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache

from ...storage.log_files import LOG_SUFFIX, PartitionName, base_offset_of, partition_of
from ..bad_option import BadOption
from .stores import Store

MANIFEST_SUFFIX = ".rsm-manifest"

_ID = "-[A-Za-z0-9_-]{22}"
_FILE = re.compile(rf"([0-9]{{20}}){_ID}\.log")
_WITH_ID = re.compile(rf"(.+){_ID}")
_PARTITION = re.compile(r"0|[1-9][0-9]{0,9}")
# Manifests of a job; one that was read never changes.
_MANIFESTS_KEPT_MAX = 100_000


def tier_offset_of(file_name: str) -> int | None:
    """Return the base offset of a segment file of a tier; None for any other name."""
    match = _FILE.fullmatch(file_name)
    return None if match is None else base_offset_of(match[1] + LOG_SUFFIX, LOG_SUFFIX)


def tier_partition_of(folder: str) -> PartitionName | None:
    """Return the partition of a folder of LocalTieredStorage; None for any other name."""
    match = _WITH_ID.fullmatch(folder)
    return None if match is None else partition_of(match[1])


def tier_topic_of(folder: str) -> str | None:
    """Return the topic of a folder of Aiven's plug-in; None for any other name."""
    match = _WITH_ID.fullmatch(folder)
    return None if match is None or partition_of(f"{match[1]}-0") is None else match[1]


def partition_number_of(folder: str) -> int | None:
    """Return the number that is the name of a folder in that of a topic; None for any other name."""
    return int(folder) if _PARTITION.fullmatch(folder) else None


def manifest_of(path: str) -> str:
    """Return the path of the manifest of a segment file."""
    return path.removesuffix(LOG_SUFFIX) + MANIFEST_SUFFIX


@lru_cache(_MANIFESTS_KEPT_MAX)
def check_manifest(store: Store, path: str) -> None:
    """Raise BadOption if the manifest at path says that its segment is compressed or encrypted. Raises OSError."""
    try:
        manifest = json.loads(store.read(path))
        is_compressed, is_encrypted = manifest["compression"], manifest.get("encryption") is not None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise BadOption(f"path: {path} is not a manifest of a segment") from None
    how = [word for word, is_so in (("compressed", is_compressed), ("encrypted", is_encrypted)) if is_so]
    if how:
        raise BadOption(
            f"path: the segment of {path} is {' and '.join(how)} by the plug-in of the tier, which is not read;"
            " read the topic from a broker with bootstrap"
        )
