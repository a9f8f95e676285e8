"""How the files of a partition are named.

Source: LogFileUtils and LocalLog, Kafka 4.3.0.
"""

LOG_SUFFIX = ".log"
INDEX_SUFFIX = ".index"
TIME_INDEX_SUFFIX = ".timeindex"


def partition_folder(topic_name: str, partition: int) -> str:
    """Return the folder of a partition's files."""
    return f"{topic_name}-{partition}"


def segment_path(folder: str, base_offset: int, suffix: str) -> str:
    """Return the path of one file of the segment that begins at base_offset."""
    return f"{folder}/{base_offset:020d}{suffix}"
