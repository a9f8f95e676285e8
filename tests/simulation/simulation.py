"""A broker's logs on failing files with crashes, checked against a model: one run per seed."""

from __future__ import annotations

import logging
import traceback
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

from fauxka.protocol.error_codes import ErrorCode
from fauxka.storage.append_refused import AppendRefused
from fauxka.storage.file_systems.file_system import FileSystem
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.log_config import LONG_MAX, LogConfig
from fauxka.storage.log_manager import LogManager
from fauxka.storage.partition_log import PartitionLog

from ..faulty_files.faulty_file_system import FaultyFileSystem
from ..faulty_files.file_fault_rules import LoseSync
from ..faulty_files.file_operations import MachineStopped
from ..protocol.batch_bytes import NOW_MS
from .checks import check_loaded, check_log, state_of, taken_batch
from .drawing import HOUR_MS, Producer, Sent, draw_batch, draw_config, draw_fault, draw_from, draw_stop
from .expected_load import Expected, Start, expected_load
from .model import PartitionModel, TakenBatch

TOPIC = "simulated"
STEPS_MAX = 60
PRODUCERS = 4
# The start of the part of a batch that its CRC covers.
CHECKED_FROM = 21
CLEAN_MARK = ".kafka_cleanshutdown"


class SimulationFailed(AssertionError):
    """A check of a run failed; the message has the seed that repeats the run."""


class RunEnded(Exception):
    """The state of the logs is no longer defined."""


@dataclass(slots=True)
class Partition:
    """A partition under test: its loaded log, its model and its producers."""

    index: int
    config: LogConfig
    log: PartitionLog
    model: PartitionModel = field(default_factory=PartitionModel)
    producers: list[Producer] = field(default_factory=list[Producer])
    leader_epoch: int = 0

    @property
    def folder(self) -> str:
        return f"{TOPIC}-{self.index}"


class Simulation:
    """One run; the seed determines everything in it."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.now_ms = NOW_MS
        self.batch_count = 0
        self.has_lied = False
        self.may_lie = self.random.random() < 0.1
        self.disk = FaultyFileSystem(MemoryFileSystem())
        self.manager = LogManager(self.disk)
        self.manager.prepare_loading()
        self.partitions = [self.created(index) for index in range(self.random.choice((1, 1, 2)))]

    def created(self, index: int) -> Partition:
        config = draw_config(self.random)
        log = self.manager.create(TOPIC, index, config, now_ms=self.now_ms)
        partition = Partition(index, config, log)
        partition.producers = [Producer(100 * (index + 1) + number) for number in range(PRODUCERS)]
        return partition

    def run(self) -> None:
        for _ in range(self.random.randrange(5, STEPS_MAX)):
            try:
                self.step()
            except MachineStopped:
                self.crash()
            if self.has_lied and self.disk.operations.is_stopped:
                return
        self.disk.plan.clear()
        self.check_all()
        self.crash()

    def step(self) -> None:
        partition = self.random.choice(self.partitions)
        kind = self.random.random()
        if kind < 0.66:
            for _ in range(self.random.choice((1, 1, 2, 4, 8))):
                self.produce(partition)
        elif kind < 0.74:
            self.disk.plan.clear()
        elif kind < 0.80:
            self.disk.plan.add(draw_fault(self.random, may_lie=self.may_lie))
        elif kind < 0.83:
            self.disk.plan.add(draw_stop(self.random, 25))
        elif kind < 0.87:
            self.crash()
        elif kind < 0.90:
            self.close()
        else:
            self.pass_over(partition)

    def pass_over(self, partition: Partition) -> None:
        """Run background work of a broker: flush, retention, checkpoints, expiry; advance the time."""
        kind = self.random.randrange(8)
        if kind == 0:
            self.flush(partition)
        elif kind == 1:
            self.delete_records(partition)
        elif kind == 2:
            self.enforce_retention()
        elif kind == 3:
            self.attempt_checkpoints()
        elif kind == 4:
            self.now_ms += self.random.choice((1_000, 60_000, HOUR_MS // 3, HOUR_MS))
        elif kind == 5:
            self.manager.delete_due_files(self.now_ms)
        elif kind == 6:
            self.manager.remove_expired_producers(self.now_ms)
            for each in self.partitions:
                each.model.remove_expired(self.now_ms, each.config.producer_id_expiration_ms)
        else:
            partition.leader_epoch += 1
        self.check_all()

    # -- producing

    def produce(self, partition: Partition) -> None:
        self.batch_count += 1
        self.now_ms += self.random.randrange(50)
        if self.random.random() < 0.25:
            sent = draw_batch(self.random, self.batch_count, self.now_ms, producer_id=-1, epoch=-1, sequence=-1)
            self.append(partition, None, sent)
            return
        producer = self.random.choice(partition.producers)
        sent = draw_from(self.random, producer, self.batch_count, self.now_ms)
        producer.unanswered = sent
        if self.append(partition, producer, sent):
            producer.unanswered = None

    def append(self, partition: Partition, producer: Producer | None, sent: Sent) -> bool:
        """Append the batch, and return whether it has a final response: appended, duplicate or refused."""
        model, log = partition.model, partition.log
        before = state_of(log)
        base_offset = model.log_end_offset
        taken = TakenBatch(base_offset, base_offset + sent.count - 1, partition.leader_epoch, sent.data[CHECKED_FROM:])
        has_failed = log.flushes.has_failed
        model.in_doubt = taken
        try:
            result = log.append(memoryview(sent.data), now_ms=self.now_ms, leader_epoch=partition.leader_epoch)
        except AppendRefused as refused:
            model.in_doubt = None
            assert state_of(log) == before, f"a refused batch changed {before} to {state_of(log)}"
            if refused.code is ErrorCode.KAFKA_STORAGE_ERROR:
                assert has_failed or self.disk.plan.has_rules, f"refused without a reason: {refused}"
                return False
            assert producer is not None, f"a plain batch was refused: {refused}"
            expected = model.producers.append(producer.producer_id, sent.epoch, sent.first_sequence, sent.count)
            assert expected == -refused.code, f"{refused}, not {expected}"
            return True
        assert not has_failed, "a batch was taken although a flush had failed"
        if producer is None:
            model.producers.log_end += sent.count
        else:
            expected = model.producers.append(producer.producer_id, sent.epoch, sent.first_sequence, sent.count)
            assert result.base_offset == expected, f"offset {result.base_offset}, not {expected}"
        assert result.is_duplicate == (model.log_end_offset == base_offset)
        if not result.is_duplicate:
            self.note_taken(partition, producer, sent, taken)
        model.in_doubt = None
        return self.flush(partition) if log.is_flush_due else True

    def note_taken(self, partition: Partition, producer: Producer | None, sent: Sent, taken: TakenBatch) -> None:
        partition.model.take(taken)
        if producer is None:
            return
        partition.model.timestamps[producer.producer_id] = int.from_bytes(sent.data[35:43], "big")
        producer.sent.append(sent)
        producer.epoch, producer.next_sequence = sent.epoch, sent.first_sequence + sent.count

    def flush(self, partition: Partition) -> bool:
        log = partition.log
        lost_syncs = self.lost_sync_count()
        flush = log.begin_flush()
        try:
            flush.run()
        except OSError:
            assert self.disk.plan.has_rules, "a flush failed without a reason"
            log.fail_flush()
            return False
        log.finish_flush(flush)
        self.has_lied = self.has_lied or self.lost_sync_count() > lost_syncs
        partition.model.safe_offset = max(partition.model.safe_offset, flush.end_offset)
        return True

    def lost_sync_count(self) -> int:
        rules = [rule for rule in self.disk.plan.rules if isinstance(rule.effect, LoseSync)]
        return sum(self.disk.plan.hit_count(rule) for rule in rules)

    # -- background work

    def delete_records(self, partition: Partition) -> None:
        log, model = partition.log, partition.model
        offset = self.random.randint(log.log_start_offset, max(log.log_start_offset, log.high_watermark))
        try:
            log.delete_records_before(offset)
        except OSError:
            assert self.disk.plan.has_rules, "records could not be deleted without a reason"
        assert log.log_start_offset in (model.log_start_offset, offset)
        model.log_start_offset = log.log_start_offset

    def enforce_retention(self) -> None:
        for each in self.partitions:
            each.model.is_start_in_doubt = True
        self.manager.enforce_retention(self.now_ms)
        for each in self.partitions:
            assert each.model.log_start_offset <= each.log.log_start_offset <= each.log.log_end_offset
            each.model.is_start_in_doubt = False
            each.model.log_start_offset = each.log.log_start_offset

    def attempt_checkpoints(self) -> bool:
        try:
            self.manager.write_checkpoints(is_synced=self.random.random() < 0.8)
        except OSError:
            assert self.disk.plan.has_rules, "checkpoints could not be written without a reason"
            return False
        return True

    # -- shutdown and start

    def close(self) -> None:
        """Shut down cleanly, or without the clean-shutdown mark if a file fails."""
        lost_syncs = self.lost_sync_count()
        try:
            self.manager.close()
        except OSError:
            assert self.disk.plan.has_rules, "the logs could not be closed without a reason"
            assert not self.disk.exists(CLEAN_MARK)
        else:
            self.has_lied = self.has_lied or self.lost_sync_count() > lost_syncs
            for each in self.partitions:
                each.model.safe_offset = each.model.log_end_offset
        self.crash()

    def crash(self) -> None:
        """Kill the process or lose the power, and start again until a start succeeds."""
        is_power_lost = self.draw_power_loss()
        self.disk = self.left_by_crash(is_power_lost=is_power_lost)
        if self.has_lied and is_power_lost:
            self.load([])
            self.disk.operations.is_stopped = True
            return
        expected = self.checked_expectation(is_power_lost=is_power_lost)
        for _ in range(self.random.choice((0, 0, 0, 1, 2))):
            is_fault = self.random.random() < 0.4
            self.disk.plan.add(draw_fault(self.random, may_lie=False) if is_fault else draw_stop(self.random, 40))
            try:
                self.load(expected)
                break
            except (OSError, MachineStopped):
                is_power_lost = self.draw_power_loss()
                if self.has_lied and is_power_lost:
                    raise RunEnded from None
                self.disk = self.left_by_crash(is_power_lost=is_power_lost)
                expected = self.checked_expectation(is_power_lost=is_power_lost)
        else:
            self.load(expected)
        self.disk.plan.clear()
        for each in self.partitions:
            each.leader_epoch += self.random.choice((0, 0, 1))

    def draw_power_loss(self) -> bool:
        """Return whether to lose the power, and not only the process.

        After a failed sync and a kill, the next process does not know of the failure. It writes everything again on
        topics that configure flushes; other logs have no guarantee then.
        """
        is_drawn = self.random.random() < 0.4
        is_any_unflushed = any(each.config.flush_messages == LONG_MAX for each in self.partitions)
        return is_drawn or (is_any_unflushed and self.disk.has_failed_syncs)

    def left_by_crash(self, *, is_power_lost: bool) -> FaultyFileSystem:
        if is_power_lost:
            return FaultyFileSystem(self.disk.after_power_loss(self.random))
        return self.disk.after_kill()

    def checked_expectation(self, *, is_power_lost: bool) -> list[Expected]:
        """Return the expected load of the remaining files, after checking them against the model."""
        expectations: list[Expected] = []
        for each in self.partitions:
            files = contents_of(self.disk, each.folder)
            expected = expected_load(files, self.start_of(each))
            left = [taken_batch(batch) for batch in expected.batches]
            if is_power_lost and has_gap(left, expected.log_end_offset):
                assert not self.start_of(each).is_recovery_point_known, f"{each.folder} has a gap"
                # Kafka serves the batches after a gap, and so does fauxka if compaction may have made the gap.
                raise RunEnded
            each.model.check_left(left, expected.log_end_offset, is_power_lost=is_power_lost)
            each.model.restart(expected, is_power_lost=is_power_lost)
            expectations.append(expected)
        return expectations

    def start_of(self, partition: Partition) -> Start:
        recovery_point = self.checkpointed("recovery-point-offset-checkpoint", partition)
        return Start(
            is_clean=self.disk.exists(CLEAN_MARK),
            recovery_point=recovery_point or 0,
            is_recovery_point_known=recovery_point is not None,
            log_start_offset=self.checkpointed("log-start-offset-checkpoint", partition) or 0,
            now_ms=self.now_ms,
            expiration_ms=partition.config.producer_id_expiration_ms,
        )

    def checkpointed(self, name: str, partition: Partition) -> int | None:
        lines = contents_of(self.disk, "").get(name, b"").decode("latin-1").split("\n")
        if lines[-1] or len(lines) < 3 or lines[0] != "0" or lines[1] != str(len(lines) - 3):
            return None
        entry = f"{TOPIC} {partition.index} "
        return next((int(line.removeprefix(entry)) for line in lines[2:] if line.startswith(entry)), None)

    def load(self, expectations: list[Expected]) -> None:
        self.manager = LogManager(self.disk)
        self.manager.prepare_loading()
        for each in self.partitions:
            each.log = self.manager.load(TOPIC, each.index, each.config, now_ms=self.now_ms)
        for each, expected in zip(self.partitions, expectations, strict=False):
            check_loaded(each.log, expected)
        if expectations:
            self.check_all()

    # -- checking

    def check_all(self) -> None:
        for each in self.partitions:
            check_log(each.log, each.model, self.random)


def has_gap(batches: list[TakenBatch], end: int) -> bool:
    if batches and batches[-1].last_offset + 1 < end:
        return True
    return any(after.base_offset > before.last_offset + 1 for before, after in pairwise(batches))


def contents_of(file_system: FileSystem, folder: str) -> dict[str, bytes]:
    """Return the files of a folder by their names."""
    found: dict[str, bytes] = {}
    for name in file_system.names_in(folder):
        file = file_system.open(f"{folder}/{name}" if folder else name)
        found[name] = bytes(file.read(0, file.size))
    return found


def run(seed: int) -> None:
    """Run the simulation of a seed; raises SimulationFailed with the seed and the failed check."""
    logging.disable(logging.WARNING)
    try:
        Simulation(seed).run()
    except RunEnded:
        return
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__} at {where.name}:{where.lineno}: {error}"
        raise SimulationFailed(f"python -m tests.simulation --seeds {seed}: {what}") from error
    finally:
        logging.disable(logging.NOTSET)
