"""python -m tests.transactions.copy_rounds [--rounds N] [--seed SEED]: kills copiers and their broker, and compares.

In each round records are produced, and a copier, the broker or both are killed and restarted. In the end every record
must have been copied once and in order.
"""

import argparse
import contextlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

from confluent_kafka import Consumer, Producer, TopicPartition

from ..crash.killed_broker import KilledBroker
from ..reference.log_client import log_client
from .copier import INPUT, OUTPUT, copied

PARTITION_COUNT = 2
RECORDS_OF_A_ROUND = 40
# The time between two kills.
LIFE_SECONDS = (0.1, 1.2)
# Longer than the timeout of a copier that lost its broker, and the run of its successor.
COPIED_SECONDS_MAX = 120.0
SECONDS_MAX = 30.0
POLL_SECONDS = 0.2
COPIER, BROKER, BOTH = "copier", "broker", "both"


class CopyRounds:
    """One broker, one copier for each partition, and the records to copy."""

    def __init__(self, folder: Path, random: Random) -> None:
        self._random = random
        self._broker = KilledBroker(folder, ["-c", "auto.create.topics.enable=false"])
        self._copiers: list[subprocess.Popen[bytes]] = []
        self._sent: list[list[bytes]] = [[] for _ in range(PARTITION_COUNT)]

    def play(self, rounds: int) -> int:
        """Run the rounds, and return the number of copied records. Raises AssertionError."""
        with contextlib.closing(self._broker):
            self._broker.start()
            self._broker.wait_until_ready()
            with log_client(self._broker.address) as client:
                for topic in (INPUT, OUTPUT):
                    client.create_topic(topic, PARTITION_COUNT, {})
            self._copiers = [self._new_copier(partition) for partition in range(PARTITION_COUNT)]
            try:
                for _ in range(rounds):
                    self._round()
                self._check()
            finally:
                for copier in self._copiers:
                    copier.kill()
                    copier.wait()
            self._broker.stop_cleanly()
        return sum(map(len, self._sent))

    def _new_copier(self, partition: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.transactions.copier", self._broker.address, str(partition)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _round(self) -> None:
        self._send()
        time.sleep(self._random.uniform(*LIFE_SECONDS))
        killed = self._random.choice((COPIER, BROKER, BOTH))
        if killed != COPIER:
            self._broker.send(signal.SIGKILL)
            self._broker.wait_until_gone()
        if killed != BROKER:
            partition = self._random.randrange(PARTITION_COUNT)
            self._copiers[partition].kill()
            self._copiers[partition].wait()
            self._copiers[partition] = self._new_copier(partition)
        if killed != COPIER:
            self._broker.start()
            self._broker.wait_until_ready()
        # A fenced copier has ended.
        for partition, copier in enumerate(self._copiers):
            if copier.poll() is not None:
                self._copiers[partition] = self._new_copier(partition)

    def _send(self) -> None:
        producer = Producer({"bootstrap.servers": self._broker.address, "enable.idempotence": True, "linger.ms": 0})
        for _ in range(RECORDS_OF_A_ROUND):
            partition = self._random.randrange(PARTITION_COUNT)
            value = f"{partition}-{len(self._sent[partition])}".encode()
            self._sent[partition].append(value)
            producer.produce(INPUT, value=value, partition=partition)
        assert producer.flush(SECONDS_MAX) == 0, "records without a response"

    def _check(self) -> None:
        for partition, sent in enumerate(self._sent):
            expected = [copied(value) for value in sent]
            read = self._read(partition, expected)
            assert read == expected, f"partition {partition}: {_difference(read, expected)}"

    def _read(self, partition: int, expected: Sequence[bytes]) -> list[bytes]:
        """Return the committed records, when there are as many as expected and no further one arrives."""
        settings = {"bootstrap.servers": self._broker.address, "group.id": "reader", "enable.auto.commit": False}
        consumer = Consumer({**settings, "isolation.level": "read_committed"})
        consumer.assign([TopicPartition(OUTPUT, partition, 0)])
        read: list[bytes] = []
        deadline = time.monotonic() + COPIED_SECONDS_MAX
        is_ended = False
        while time.monotonic() < deadline and not (is_ended and len(read) >= len(expected)):
            message = consumer.poll(POLL_SECONDS)
            is_ended = message is None
            if message is not None and message.error() is None:
                read.append(message.value() or b"")
            if self._copiers[partition].poll() is not None:
                self._copiers[partition] = self._new_copier(partition)
        consumer.close()
        return read


def _difference(read: Sequence[bytes], expected: Sequence[bytes]) -> str:
    missing = sorted(set(expected) - set(read))
    return f"{len(read)} of {len(expected)} records, {len(read) - len(set(read))} twice, missing {missing[:5]}"


def run_copy_rounds(rounds: int, seed: int) -> int:
    """Run the rounds in a new folder, which is kept after a failure. Return the number of copied records."""
    folder = Path(tempfile.mkdtemp(prefix=f"fauxka-copies-{seed}-"))
    try:
        count = CopyRounds(folder, Random(seed)).play(rounds)
    except BaseException as error:
        words = f"python -m tests.transactions.copy_rounds --rounds {rounds} --seed {seed}"
        raise AssertionError(f"{error}\nrepeat: {words}\nkept: {folder}") from error
    shutil.rmtree(folder)
    return count


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.transactions.copy_rounds", description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    start = time.monotonic()
    count = run_copy_rounds(arguments.rounds, arguments.seed)
    print(f"{arguments.rounds} rounds: {count} records copied once, {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
