"""Rounds of kills during transactions; after each restart a transaction is stored completely or not at all."""

import contextlib
import signal
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from fauxka.scenarios.clients.raw_connection import RawConnection

from ..reference.log_client import log_client
from .committed_reader import CommittedReader, committed_offset, unfinished_transactions
from .killed_broker import KilledBroker
from .round_folders import in_new_folder
from .transactional_application import (
    PARTITION_COUNT,
    SOURCE_TOPIC,
    TOPIC,
    TransactionalApplication,
    connected,
)

# The lifetime of a broker after it has served each application once. Some are killed during start-up, when pending
# transactions are ended.
LIFE_SECONDS = (0.01, 0.15)
START_SECONDS = 0.3
# A new broker imports modules for its first transaction.
FIRST_SECONDS_MAX = 20.0
KILLED_IN_START = 0.15
# Small segments, so that transactions span several of them.
TOPIC_CONFIGS = {"internal.segment.bytes": "20000"}
SETTINGS = (
    "transaction.state.log.num.partitions=3",
    "offsets.topic.num.partitions=3",
    "group.initial.rebalance.delay.ms=0",
)
NO_OFFSET = -1


@dataclass(slots=True)
class TransactionTally:
    """The counts of the rounds. undecided: ends without an acknowledgement, and how many of them were committed."""

    kills: int = 0
    committed: int = 0
    aborted: int = 0
    undecided: int = 0
    undecided_committed: int = 0


def run_transaction_rounds(rounds: int, seed: int, options: Sequence[str] = ()) -> TransactionTally:
    """Run the rounds on one new folder, which is kept after a failure; raises AssertionError with the seed."""
    return in_new_folder("transactions", rounds, seed, lambda folder: _Scene(folder, seed, options).play(rounds))


class _Scene:
    def __init__(self, folder: Path, seed: int, options: Sequence[str]) -> None:
        self._random = Random(seed)
        self._broker = KilledBroker(folder, [*(word for each in SETTINGS for word in ("-c", each)), *options])
        self._applications = [
            TransactionalApplication("old", Random(seed + 1), raises_epoch=False),
            TransactionalApplication("new", Random(seed + 2), raises_epoch=True),
        ]
        self._readers = [CommittedReader(TOPIC, partition) for partition in range(PARTITION_COUNT)]
        self._seen: dict[str, set[int]] = {each.name: set() for each in self._applications}
        self._tally = TransactionTally()

    def play(self, rounds: int) -> TransactionTally:
        with contextlib.closing(self._broker):
            self._broker.start()
            self._broker.wait_until_ready()
            with log_client(self._broker.address) as client:
                client.create_topic(TOPIC, PARTITION_COUNT, TOPIC_CONFIGS)
                client.create_topic(SOURCE_TOPIC, 1, {})
            for _ in range(rounds):
                self._live_and_die()
                self._start_again()
                connected(self._broker.address, self._check)
            self._broker.stop_cleanly()
        self._tally.committed = sum(len(each.committed) for each in self._applications)
        self._tally.aborted = sum(len(each.aborted) for each in self._applications)
        return self._tally

    def _live_and_die(self) -> None:
        """Run all applications until the broker is killed."""
        connections = [RawConnection(self._broker.address) for _ in self._applications]
        for application, connection in zip(self._applications, connections, strict=True):
            application.begin(connection)
        workers = [
            threading.Thread(target=application.work_until_closed, args=(connection,))
            for application, connection in zip(self._applications, connections, strict=True)
        ]
        for worker in workers:
            worker.start()
        for application in self._applications:
            assert application.is_working.wait(FIRST_SECONDS_MAX), f"{application.name} ends no transaction"
        time.sleep(self._random.uniform(*LIFE_SECONDS))
        self._broker.send(signal.SIGKILL)
        self._broker.wait_until_gone()
        for worker in workers:
            worker.join()
        for connection in connections:
            connection.close()
        self._tally.kills += 1

    def _start_again(self) -> None:
        self._broker.start()
        while self._random.random() < KILLED_IN_START:
            self._broker.kill_after(self._random.uniform(0, START_SECONDS))
            self._tally.kills += 1
            self._broker.start()
        self._broker.wait_until_ready()

    def _check(self, connection: RawConnection) -> None:
        for application in self._applications:
            application.begin(connection)
        unfinished = unfinished_transactions(connection)
        assert not unfinished, f"transactions that hang: {unfinished}"
        read = [self._numbers(reader.read(connection)) for reader in self._readers]
        for application in self._applications:
            self._check_application(application, [numbers[application.name] for numbers in read])
            self._check_offset(application, committed_offset(connection, application.group_id, SOURCE_TOPIC))

    def _numbers(self, values: Sequence[str]) -> dict[str, list[int]]:
        numbers: dict[str, list[int]] = {each.name: [] for each in self._applications}
        for value in values:
            name, number = value.split(":")
            numbers[name].append(int(number))
        return numbers

    def _check_application(self, application: TransactionalApplication, read: Sequence[list[int]]) -> None:
        """Check the records since the last round, by partition, and settle the undecided transactions."""
        first = read[0]
        assert all(numbers == first for numbers in read), f"transactions of {application.name} in part: {read}"
        assert len(set(first)) == len(first), f"transactions of {application.name} twice: {first}"
        seen = self._seen[application.name]
        seen |= set(first)
        unknown, application.unknown = application.unknown, None
        if unknown is not None:
            self._tally.undecided += 1
            self._tally.undecided_committed += unknown in seen
            (application.committed if unknown in seen else application.aborted).add(unknown)
        assert seen == application.committed, (
            f"{application.name}: lost {sorted(application.committed - seen)}, "
            f"not committed {sorted(seen - application.committed)}"
        )

    def _check_offset(self, application: TransactionalApplication, offset: int) -> None:
        expected = max(application.committed, default=NO_OFFSET)
        assert offset == expected, f"{application.name} has committed {offset}, not {expected}"
