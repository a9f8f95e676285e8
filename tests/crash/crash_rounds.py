"""Rounds of kills of one data folder under two producing clients, and checks of the logs."""

import contextlib
import signal
import threading
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from ..reference.log_client import log_client
from . import reporting_producer, sequenced_producers
from .killed_broker import KilledBroker
from .reporting_producer import ReportingProducer
from .round_folders import TOPIC_CONFIGS, Counts, in_new_folder, run_folders
from .sequenced_producers import SequencedProducers
from .stored_logs import check_reported, check_sequenced, check_start, read_log

# The lifetime of a broker, from the first request of both clients.
LIFE_SECONDS = (0.02, 0.2)
# Some brokers are killed during start-up and recovery, which take about this time; some are shut down.
START_SECONDS = 0.3
KILLED_IN_START, STOPPED_CLEANLY = 0.1, 0.05
# librdkafka needs a second before its first record.
FIRST_REPORT_SECONDS_MAX = 20.0
RETAINED_BYTES = 200_000
SETTINGS = (
    # Frequent enough to run during a kill.
    "log.flush.offset.checkpoint.interval.ms=50",
    "log.flush.start.offset.checkpoint.interval.ms=50",
)


@dataclass(frozen=True, slots=True)
class Variant:
    """The storage options of a broker.

    options: of every start. deleting_options: of every start but the last, after which nothing may be deleted.
    """

    name: str
    options: Sequence[str] = ()
    deleting_options: Sequence[str] = ()
    configs: tuple[tuple[str, str], ...] = ()

    @property
    def is_deleting(self) -> bool:
        return bool(self.configs)


VARIANTS = {
    variant.name: variant
    for variant in (
        Variant("written"),
        Variant("flushed", options=("--fsync", "always")),
        Variant(
            "deleted",
            deleting_options=("-c", "log.retention.check.interval.ms=20"),
            configs=(("retention.bytes", str(RETAINED_BYTES)), ("file.delete.delay.ms", "20")),
        ),
    )
}


@dataclass(slots=True)
class Tally(Counts):
    """The counts of the rounds."""

    kills: int = 0
    acknowledged_batches: int = 0
    retried_batches: int = 0
    reported_records: int = 0
    fatal_errors: int = 0


def run_rounds(variant: Variant, rounds: int, seed: int) -> Tally:
    """Run rounds in several folders.

    Raises AssertionError with the seed of the folder that failed, which is kept.
    """
    return run_folders(Tally(), rounds, seed, partial(run_folder, variant))


def run_folder(variant: Variant, rounds: int, seed: int) -> Tally:
    """Run rounds on a new folder, and check its logs."""
    return in_new_folder(variant.name, rounds, seed, lambda folder: Scene(folder, variant, seed).play(rounds))


class Scene:
    """A broker and its two clients."""

    def __init__(self, folder: Path, variant: Variant, seed: int) -> None:
        self._variant = variant
        self._random = Random(seed)
        settings = [word for setting in SETTINGS for word in ("-c", setting)]
        self._last_options = [*settings, *variant.options]
        self._broker = KilledBroker(folder, [*self._last_options, *variant.deleting_options])
        address = self._broker.address
        self._sequenced = SequencedProducers(address, Random(seed + 1), is_deleting=variant.is_deleting)
        self._reporting = ReportingProducer(address, Random(seed + 2))

    def play(self, rounds: int) -> Tally:
        with contextlib.closing(self._broker):
            self._broker.start()
            self._broker.wait_until_ready()
            self._create_topics()
            with self._reporting_meanwhile():
                for _ in range(rounds):
                    self._round()
                self._begin_last_life()
                self._sequenced.finish()
            self._check()
            self._broker.stop_cleanly()
        return self._tally(rounds)

    def _create_topics(self) -> None:
        configs = {**TOPIC_CONFIGS, **dict(self._variant.configs)}
        with log_client(self._broker.address) as client:
            client.create_topic(sequenced_producers.TOPIC, sequenced_producers.PARTITION_COUNT, configs)
            client.create_topic(reporting_producer.TOPIC, reporting_producer.PARTITION_COUNT, configs)

    @contextlib.contextmanager
    def _reporting_meanwhile(self) -> Generator[None, None, None]:
        self._reporting.start()
        try:
            yield
        except BaseException:
            # Without a broker it would wait for its delivery reports.
            self._reporting.abandon()
            raise
        self._reporting.stop()

    def _round(self) -> None:
        """Produce to the running broker, kill it, and start the next one."""
        self._live()
        self._broker.start()
        while self._random.random() < KILLED_IN_START:
            self._broker.kill_after(self._random.uniform(0, START_SECONDS))
            self._broker.start()
        self._broker.wait_until_ready()

    def _live(self) -> None:
        is_clean = self._random.random() < STOPPED_CLEANLY
        number = signal.SIGTERM if is_clean else signal.SIGKILL
        seconds = self._random.uniform(*LIFE_SECONDS)

        def end() -> None:
            self._reporting.is_reporting.wait(FIRST_REPORT_SECONDS_MAX)
            time.sleep(seconds)
            self._broker.send(number)

        killer = threading.Thread(target=end, name="killer")
        killer.start()
        try:
            self._sequenced.produce_until_closed()
        finally:
            killer.join()
        code = self._broker.wait_until_gone()
        assert code == (0 if is_clean else -signal.SIGKILL), f"exit code {code}\n{self._broker.log_tail()}"

    def _begin_last_life(self) -> None:
        """Start once more without deletion, so that the logs do not change during the check."""
        self._broker.send(signal.SIGKILL)
        self._broker.wait_until_gone()
        self._broker.options = self._last_options
        self._broker.start()
        self._broker.wait_until_ready()

    def _check(self) -> None:
        retained = RETAINED_BYTES if self._variant.is_deleting else None
        with log_client(self._broker.address) as client:
            for partition in range(sequenced_producers.PARTITION_COUNT):
                log = read_log(client, sequenced_producers.TOPIC, partition)
                check_sequenced(log, [each for each in self._sequenced.producers if each.partition == partition])
                check_start(log, self._sequenced.deleted_offsets.get(partition, 0), retained)
            for partition in range(reporting_producer.PARTITION_COUNT):
                log = read_log(client, reporting_producer.TOPIC, partition)
                records = self._reporting.records.items()
                check_reported(log, {name: each for name, each in records if each.partition == partition})
                check_start(log, 0, retained)

    def _tally(self, rounds: int) -> Tally:
        return Tally(
            kills=rounds,
            acknowledged_batches=sum(len(producer.base_offsets) for producer in self._sequenced.producers),
            retried_batches=self._sequenced.retries,
            reported_records=sum(record.offset is not None for record in self._reporting.records.values()),
            fatal_errors=len(self._reporting.fatal_errors),
        )


def seed_of_the_day() -> int:
    """Return a seed that changes with each run."""
    return time.time_ns() // 1_000_000 % 1_000_000_000
