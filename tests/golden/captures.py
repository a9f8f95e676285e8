"""Which capture program writes which golden file, and what both brokers are started with for it."""

from collections.abc import Callable
from pathlib import Path

from . import (
    capture_cluster,
    capture_configs,
    capture_fetch,
    capture_fetch_sessions,
    capture_list_offsets,
    capture_metadata,
    capture_topics,
)
from .capture_recorder import Recorder

FOLDER = Path(__file__).parent
KAFKA_VERSION = "4.3.0"
CAPTURES: dict[str, Callable[[Recorder], None]] = {
    "cluster": capture_cluster.capture,
    "configs": capture_configs.capture,
    "fetch": capture_fetch.capture,
    "fetch_sessions": capture_fetch_sessions.capture,
    "list_offsets": capture_list_offsets.capture,
    "metadata": capture_metadata.capture,
    "topics": capture_topics.capture,
}


def golden_file(name: str) -> Path:
    """Return the file that holds what Kafka answered to the program of that name."""
    return FOLDER / f"{name}-{KAFKA_VERSION}.jsonl"
