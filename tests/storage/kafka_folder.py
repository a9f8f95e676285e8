"""Test helper: the data folder of a real broker, tests/golden/kafka-4.3.0-data-dir."""

from __future__ import annotations

from pathlib import Path

KAFKA_FOLDER = Path(__file__).parent.parent / "golden" / "kafka-4.3.0-data-dir"


def kafka_files(pattern: str) -> list[str]:
    """Return the paths in the folder that match pattern; fails if there are none."""
    found = sorted(str(path.relative_to(KAFKA_FOLDER)) for path in KAFKA_FOLDER.rglob(pattern))
    assert found, f"no file of the folder matches {pattern}"
    return found


def kafka_bytes(path: str) -> bytes:
    return (KAFKA_FOLDER / path).read_bytes()


def damaged_bit(data: bytes, bit: int) -> bytes:
    damaged = bytearray(data)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)
