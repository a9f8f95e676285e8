"""Writes message_sets-3.9.1.jsonl anew: what Kafka's own classes make of message sets, and of batches for old clients.

python -m tests.golden.capture_message_sets draws records, with a fixed seed, and asks MessageSetOracle.java twice: for
sets and batches of them, then for their conversions, and for those of sets with a changed byte.
"""

import json
import random
import subprocess
import zlib
from collections.abc import Sequence
from pathlib import Path

from ..reference.kafka_process import reference_jars

FOLDER = Path(__file__).parent
RELEASE = "3.9.1"
FILE = FOLDER / f"message_sets-{RELEASE}.jsonl"
SEED = 32
SECONDS_MAX = 120

FIRST_TIMESTAMP_MS = 1_700_000_000_000
RECORDS_MAX = 5
BASE_OFFSET_MAX = 1_000
# Of each magic and codec.
MADE_COUNT = 4
CHANGED_COUNT = 10
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
TYPES = ("CreateTime", "LogAppendTime")


def made(draw: random.Random, magic: int, codec: str) -> str:
    """Return a question about a set or batch of drawn records."""
    base_offset = draw.randrange(BASE_OFFSET_MAX) if magic == 2 else 0
    timestamp_type = draw.choice(TYPES) if magic else "NoTimestampType"
    drawn = ",".join(_record(draw) for _ in range(draw.randint(1, RECORDS_MAX)))
    return f"make {magic} {codec} {timestamp_type} {base_offset} {drawn}"


def _record(draw: random.Random) -> str:
    fields = (draw.choice(("null", draw.randbytes(draw.randrange(20)).hex(), b"text".hex())) for _ in range(2))
    return f"{FIRST_TIMESTAMP_MS + draw.randrange(-50, 50)}/{'/'.join(fields)}"


def conversions(draw: random.Random, magic: int, data: bytes) -> list[str]:
    """Return the questions about what was made."""
    if magic == 2:
        base_offset = int.from_bytes(data[:8], "big")
        return [f"down {old} {base_offset + draw.randrange(RECORDS_MAX)} {data.hex()}" for old in (0, 1)]
    changed = [f"up {_changed(draw, data).hex()}" for _ in range(CHANGED_COUNT)]
    return [f"up {data.hex()}", f"up {data.hex()}{data.hex()}", *changed]


def _changed(draw: random.Random, data: bytes) -> bytes:
    """Return the set with a cut end, or with another byte, half of the time with the right CRC of its first message."""
    position = draw.randrange(len(data))
    if draw.random() < 0.2:
        return data[:position]
    changed = data[:position] + draw.randbytes(1) + data[position + 1 :]
    if draw.random() < 0.5:
        return changed
    end = 12 + int.from_bytes(changed[8:12], "big")
    return changed[:12] + zlib.crc32(changed[16:end]).to_bytes(4, "big") + changed[16:]


def ask(questions: Sequence[str]) -> list[str]:
    """Return the answers of Kafka's classes."""
    command = ["java", "-cp", f"{reference_jars(RELEASE)}/*", str(FOLDER / "MessageSetOracle.java")]
    text = "\n".join(questions) + "\n"
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, timeout=SECONDS_MAX)
    return done.stdout.splitlines()


def main() -> None:
    """Ask Kafka's classes."""
    draw = random.Random(SEED)
    kinds = [
        (magic, codec)
        for magic in (0, 1, 2)
        for codec in CODECS
        # No message is compressed with zstd.
        if magic == 2 or codec != "zstd"
        for _ in range(MADE_COUNT)
    ]
    sets = ask([made(draw, *kind) for kind in kinds])
    asked = [
        question
        for (magic, _), data in zip(kinds, sets, strict=True)
        for question in conversions(draw, magic, bytes.fromhex(data))
    ]
    with FILE.open("w") as output:
        for question, answer in zip(asked, ask(asked), strict=True):
            output.write(json.dumps([question.split(" "), answer]) + "\n")


if __name__ == "__main__":
    main()
