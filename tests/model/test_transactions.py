"""Any requests of producers, right and wrong, with time passing and nodes dying: coordinator and model agree."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from fauxka.broker.coordinators.coordinator_log import CoordinatorRecord
from fauxka.broker.coordinators.internal_topics import CoordinatorType
from fauxka.protocol.stored_records.transaction_log_records import TransactionLogValue, TransactionStatus, encode_key

from ..broker.coordinators.transaction_scene import NOW_MS, TOPIC, TransactionScene, error_of
from ..run_counts import examples
from .transaction_model import OK, ONGOING, CoordinatorModel, IdModel

# Both are due at the same time now and then; whatever is aborted is so before anything expires.
ABORT_INTERVAL_MS, EXPIRE_INTERVAL_MS, EXPIRATION_MS = 1000, 3000, 20_000
AGED = "aged"
AGED_PID, AGED_EPOCH = 40, 32764

T = TypeVar("T")
names = st.sampled_from(["a", AGED, AGED])
# Which producer a request is of, by what is known of the id.
whoever = st.sampled_from(["current"] * 6 + ["last"] * 3 + ["previous", "next", "other", "far"])
timeouts = st.sampled_from([500, 2500, *[900_000] * 8, 0, 900_001])
places = st.sets(st.sampled_from([0, 1]), min_size=1)


class Transactions(RuleBasedStateMachine):
    """Every rule asks both; the invariants compare all that is known and written."""

    scene: TransactionScene
    model: CoordinatorModel

    @initialize(level=st.sampled_from([0, 1, 2, 2]))
    def begin(self, level: int) -> None:
        config = {
            "transaction.abort.timed.out.transaction.cleanup.interval.ms": str(ABORT_INTERVAL_MS),
            "transaction.remove.expired.transaction.cleanup.interval.ms": str(EXPIRE_INTERVAL_MS),
            "transactional.id.expiration.ms": str(EXPIRATION_MS),
        }
        self.scene = TransactionScene(level, config)
        self.model = CoordinatorModel(level, next_pid=AGED_PID + 1)
        # One id is near the end of its epochs, as a log says.
        value = TransactionLogValue(
            producer_id=AGED_PID,
            producer_epoch=AGED_EPOCH,
            timeout_ms=1000,
            status=TransactionStatus.EMPTY,
            partitions=None,
            last_update_ms=NOW_MS,
        )
        log = self.scene.cluster.node.coordinators.coordinator_log(CoordinatorType.TRANSACTION)
        log.append(AGED, [CoordinatorRecord(encode_key(AGED), value.encode(1))])
        self.scene.cluster.node.coordinators.load()
        self.model.ids[AGED] = IdModel(AGED_PID, AGED_EPOCH, timeout_ms=1000, updated_ms=NOW_MS)
        self.upkeep_began_ms: int | None = NOW_MS
        self.has_died_within = False

    # -- requests

    @rule(name=names, who=st.sampled_from([None]) | whoever | whoever, timeout_ms=timeouts)
    def init(self, name: str, who: str | None, timeout_ms: int) -> None:
        expected = None if who is None else self._producer(name, who)
        self._both(
            lambda: self.scene.init(name, timeout_ms, expected),
            lambda model: model.init(name, timeout_ms, expected, self._now()),
        )

    @rule(name=names, who=whoever, indexes=places, version=st.sampled_from([0, 2]))
    def add(self, name: str, who: str, indexes: set[int], version: int) -> None:
        producer = self._producer(name, who)
        wanted = {(TOPIC, index) for index in indexes}
        error = self._both(
            lambda: self.scene.add(name, producer, *sorted(indexes), version=version),
            lambda model: model.add(name, *producer, wanted, self._now(), is_new=version > 0),
        )
        if error == OK:
            for index in sorted(indexes):
                self.scene.produce(index, producer)

    @rule(name=names, who=whoever, index=st.sampled_from([0, 1]))
    def verify(self, name: str, who: str, index: int) -> None:
        producer, place = self._producer(name, who), (TOPIC, index)
        self._both(
            lambda: self.scene.coordinator.verify(name, *producer, [place]),
            lambda model: model.verify(name, *producer, place),
        )

    @rule(name=names, who=whoever, is_new=st.booleans(), is_commit=st.booleans())
    def end(self, name: str, who: str, is_new: bool, is_commit: bool) -> None:
        self._both(*self._end(name, who, is_new, is_commit))

    @rule(name=names, who=whoever, is_new=st.booleans(), is_commit=st.booleans(), died_at=st.integers(0, 4))
    def die_while_ending(self, name: str, who: str, is_new: bool, is_commit: bool, died_at: int) -> None:
        self._die_within(*self._end(name, who, is_new, is_commit), died_at)

    @rule(name=names, died_at=st.integers(0, 4))
    def die_while_beginning(self, name: str, died_at: int) -> None:
        self._die_within(
            lambda: self.scene.init(name), lambda model: model.init(name, 60_000, None, self._now()), died_at
        )

    # -- time and crashes

    @rule(by_ms=st.sampled_from([1, 400, 600, 1000, 2500, 7000]))
    def wait(self, by_ms: int) -> None:
        before, began = self._now(), self.upkeep_began_ms
        self.scene.clock.advance(by_ms)
        if began is None:
            return
        for now_ms in range(before + 1, before + by_ms + 1):
            if (now_ms - began) % ABORT_INTERVAL_MS == 0:
                self.model.abort_timed_out(now_ms)
            if (now_ms - began) % EXPIRE_INTERVAL_MS == 0:
                self.model.remove_expired(now_ms, EXPIRATION_MS)

    @rule()
    def die(self) -> None:
        self.scene.restart()
        self._restarted()

    # -- what has to be so

    @invariant()
    def the_same_is_known_of_every_id(self) -> None:
        known = {
            each.transactional_id: (
                each.state_name,
                each.producer_id,
                each.producer_epoch,
                each.timeout_ms,
                each.last_update_ms,
                set(each.partitions),
            )
            for each in self.scene.coordinator.list_all()
        }
        assert known == {
            name: (each.state, each.pid, each.epoch, each.timeout_ms, each.updated_ms, each.places)
            for name, each in self.model.ids.items()
        }

    @invariant()
    def open_transactions_began_at_the_same_time(self) -> None:
        began = {each.transactional_id: each.start_ms for each in self.scene.coordinator.list_all()}
        assert all(began[name] == each.start_ms for name, each in self.model.ids.items() if each.state == ONGOING)

    @invariant()
    def every_partition_was_told_how_its_transactions_ended(self) -> None:
        for index in (0, 1):
            wanted = [
                (each.producer_id, each.epoch, each.is_commit)
                for each in self.model.markers
                if each.place == (TOPIC, index)
            ]
            found = self.scene.markers(index)
            if self.has_died_within:
                # A node that died between the markers and the record of them writes them again.
                wanted, found = without_repeats(wanted), without_repeats(found)
            assert found == wanted

    @invariant()
    def readers_of_committed_data_wait_for_open_transactions_only(self) -> None:
        open_places = {place for each in self.model.ids.values() if each.state == ONGOING for place in each.places}
        assert [self.scene.has_undecided(index) for index in (0, 1)] == [
            (TOPIC, index) in open_places for index in (0, 1)
        ]

    # -- pieces

    def _now(self) -> int:
        return self.scene.clock.now_ms()

    def _producer(self, name: str, who: str) -> tuple[int, int]:
        known = self.model.ids.get(name) or IdModel(999, 0)
        match who:
            case "last":
                return known.pid, max(known.epoch - 1, 0)
            case "previous":
                return known.previous_pid, 32766
            case "next":
                return known.pid, known.epoch + 1
            case "other":
                return known.pid + 1000, known.epoch
            case "far":
                return known.pid, max(known.epoch - 7, 0)
            case _:
                return known.pid, known.epoch

    def _end(
        self, name: str, who: str, is_new: bool, is_commit: bool
    ) -> tuple[Callable[[], object], Callable[[CoordinatorModel], str]]:
        producer = self._producer(name, who)

        def in_model(model: CoordinatorModel) -> str:
            end = model.end_new if is_new else model.end_old
            return end(name, *producer, is_commit=is_commit, now_ms=self._now())

        return lambda: self.scene.end(name, producer, is_commit=is_commit, version=2 if is_new else 0), in_model

    def _both(self, ask: Callable[[], object], ask_model: Callable[[CoordinatorModel], str]) -> str:
        error = error_of(ask)
        assert error == ask_model(self.model)
        self._upkeep_begins()
        return error

    def _die_within(self, ask: Callable[[], object], ask_model: Callable[[CoordinatorModel], str], at: int) -> None:
        """Ask, and die before the append of that number: before the first nothing is decided, later everything is."""
        decided = deepcopy(self.model)
        wanted = ask_model(decided)
        error = ""
        with self.scene.dying_before(at):
            error = error_of(ask)
        if error:
            assert error == wanted
            self.model = decided
            self._upkeep_begins()
            return
        self.has_died_within = True
        if at:
            self.model = decided
        self._restarted()

    def _upkeep_begins(self) -> None:
        if self.upkeep_began_ms is None and self.model.ids:
            self.upkeep_began_ms = self._now()

    def _restarted(self) -> None:
        self.model.restart()
        # What is left of a block of producer ids is never given.
        self.model.next_pid = self.scene.cluster.controller.producer_ids.next_producer_id
        self.upkeep_began_ms = self._now() if self.model.ids else None


def without_repeats(said: list[T]) -> list[T]:
    return [each for index, each in enumerate(said) if index == 0 or said[index - 1] != each]


TestTransactions = Transactions.TestCase
TestTransactions.settings = settings(max_examples=examples(80), stateful_step_count=50, deadline=None)
