"""Model of the transaction coordinator: the tables of Kafka 4.3's coordinator, for one transactional id at a time.

States are those of DescribeTransactions. PrepareCommit and PrepareAbort never occur, because a transaction ends within
one request. The model was written from the responses of a real Kafka (tests/golden), not from the coordinator's code.
"""

from __future__ import annotations

from dataclasses import dataclass, field

OK = "NONE"
UNKNOWN = "INVALID_PRODUCER_ID_MAPPING"
FENCED = "PRODUCER_FENCED"
CONCURRENT = "CONCURRENT_TRANSACTIONS"
INVALID_STATE = "INVALID_TXN_STATE"
INVALID_TIMEOUT = "INVALID_TRANSACTION_TIMEOUT"
ABORTABLE = "TRANSACTION_ABORTABLE"
UNSUPPORTED = "UNSUPPORTED_VERSION"
# The error of an epoch overflow in Kafka.
FAILED = "UNKNOWN_SERVER_ERROR"

EMPTY, ONGOING, COMMITTED, ABORTED = "Empty", "Ongoing", "CompleteCommit", "CompleteAbort"
# The last epoch of a producer.
LAST = 32766
TIMEOUT_MS_MAX = 900_000

Place = tuple[str, int]


@dataclass
class Marker:
    """The marker of a transaction in a partition."""

    place: Place
    producer_id: int
    epoch: int
    is_commit: bool


@dataclass
class IdModel:
    """One transactional id. last: the previous epoch, or -1 if no request can be repeated."""

    pid: int
    epoch: int = -1
    last: int = -1
    previous_pid: int = -1
    state: str = EMPTY
    places: set[Place] = field(default_factory=set[Place])
    start_ms: int = -1
    timeout_ms: int = 0
    updated_ms: int = 0


@dataclass
class CoordinatorModel:
    """All transactional ids. level: the broker's transaction version."""

    level: int
    next_pid: int = 0
    ids: dict[str, IdModel] = field(default_factory=dict[str, IdModel])
    markers: list[Marker] = field(default_factory=list[Marker])

    def new_pid(self) -> int:
        self.next_pid += 1
        return self.next_pid - 1

    def init(self, name: str, timeout_ms: int, expected: tuple[int, int] | None, now_ms: int) -> str:
        if not 0 < timeout_ms <= TIMEOUT_MS_MAX:
            return INVALID_TIMEOUT
        known = self.ids.get(name)
        if known is None:
            # A new id accepts any expected producer.
            pid = self.new_pid()
            known = self.ids[name] = IdModel(pid, epoch=0, previous_pid=pid)
        elif expected is not None and not self._may_be(known, expected):
            return FENCED
        elif known.state == ONGOING:
            error = self.abort_by_broker(known, now_ms)
            return CONCURRENT if error == OK else error
        else:
            error = self._next_epoch(known, expected)
            if error != OK:
                return error
        known.state, known.places, known.start_ms = EMPTY, set(), -1
        known.timeout_ms, known.updated_ms = timeout_ms, now_ms
        return OK

    def _may_be(self, known: IdModel, expected: tuple[int, int]) -> bool:
        pid, epoch = expected
        return pid == known.pid or (pid == known.previous_pid and epoch >= LAST)

    def _next_epoch(self, known: IdModel, expected: tuple[int, int] | None) -> str:
        epoch = None if expected is None else expected[1]
        old_pid = known.pid
        if known.epoch >= LAST and epoch not in (None, known.epoch):
            return FAILED
        if known.epoch >= LAST:
            known.last = -1 if epoch is None else known.epoch
            known.pid, known.epoch = self.new_pid(), 0
        elif epoch is None:
            known.epoch, known.last = known.epoch + 1, -1
        elif epoch == known.epoch:
            known.epoch, known.last = known.epoch + 1, known.epoch
        elif epoch != known.last:
            return FENCED
        known.previous_pid = old_pid
        return OK

    def add(self, name: str, pid: int, epoch: int, places: set[Place], now_ms: int, *, is_new: bool) -> str:
        known = self.ids.get(name)
        if known is None or known.pid != pid:
            return UNKNOWN
        if known.epoch != epoch:
            return FENCED
        if known.state == ONGOING and places <= known.places:
            return OK
        if is_new and not self.level:
            return UNSUPPORTED
        if known.state != ONGOING:
            known.state, known.start_ms = ONGOING, now_ms
        known.places |= places
        known.previous_pid, known.updated_ms = known.pid, now_ms
        return OK

    def verify(self, name: str, pid: int, epoch: int, place: Place) -> str:
        known = self.ids.get(name)
        if known is None or known.pid != pid:
            return UNKNOWN
        if known.epoch != epoch:
            return FENCED
        return OK if place in known.places else ABORTABLE

    def end_old(self, name: str, pid: int, epoch: int, *, is_commit: bool, now_ms: int) -> str:
        """EndTxn before version 5, which keeps the epoch."""
        known = self.ids.get(name)
        if known is None or known.pid != pid:
            return UNKNOWN
        if known.epoch != epoch:
            return FENCED
        if known.state == ONGOING:
            self._finish(known, known.epoch, is_commit=is_commit, now_ms=now_ms)
            return OK
        return OK if known.state == (COMMITTED if is_commit else ABORTED) else INVALID_STATE

    def end_new(self, name: str, pid: int, epoch: int, *, is_commit: bool, now_ms: int) -> str:
        """EndTxn version 5, which raises the epoch. A retry has the previous epoch."""
        known = self.ids.get(name)
        if known is None:
            return UNKNOWN
        is_overflow = pid == known.previous_pid and epoch == LAST and known.epoch == 0
        if known.pid != pid and not is_overflow:
            return UNKNOWN
        is_current, is_retry = epoch == known.epoch, is_overflow or epoch == known.epoch - 1
        is_ended = known.state in (COMMITTED, ABORTED)
        if not is_current and not (is_ended and is_retry):
            return FENCED
        if known.state == ONGOING or (not is_commit and not is_retry):
            error = self._error_of_raise(known)
            if error != OK:
                return error
            if known.state != ONGOING:
                known.start_ms = now_ms
            self._raise_and_finish(known, is_commit=is_commit, now_ms=now_ms)
            return OK
        if is_retry and known.state == (COMMITTED if is_commit else ABORTED):
            return OK
        return INVALID_STATE

    def _error_of_raise(self, known: IdModel) -> str:
        """Return the error of an end that raises the epoch. An id in its last epoch takes a producer id before that."""
        if self.level and known.epoch <= LAST:
            return OK
        self.next_pid += known.epoch >= LAST
        # At level 1, an abort by the broker in the last epoch leaves none to raise to.
        return FAILED if self.level else UNSUPPORTED

    def abort_by_broker(self, known: IdModel, now_ms: int) -> str:
        if self.level >= 2:
            self._raise_and_finish(known, is_commit=False, now_ms=now_ms)
        elif known.epoch > LAST:
            return FAILED
        else:
            known.epoch, known.last = known.epoch + 1, -1
            self._finish(known, known.epoch, is_commit=False, now_ms=now_ms)
        return OK

    def _raise_and_finish(self, known: IdModel, *, is_commit: bool, now_ms: int) -> None:
        is_exhausted = known.epoch >= LAST
        next_pid = self.new_pid() if is_exhausted else known.pid
        known.epoch, known.last = known.epoch + 1, known.epoch
        self._finish(known, known.epoch, is_commit=is_commit, now_ms=now_ms)
        if is_exhausted:
            known.pid, known.epoch = next_pid, 0

    def _finish(self, known: IdModel, epoch: int, *, is_commit: bool, now_ms: int) -> None:
        self.markers += [Marker(place, known.pid, epoch, is_commit) for place in sorted(known.places)]
        known.state, known.places = COMMITTED if is_commit else ABORTED, set()
        known.previous_pid, known.updated_ms = known.pid, now_ms

    def abort_timed_out(self, now_ms: int) -> None:
        for known in self.ids.values():
            if known.state == ONGOING and known.start_ms + known.timeout_ms < now_ms:
                self.abort_by_broker(known, now_ms)

    def remove_expired(self, now_ms: int, expiration_ms: int) -> None:
        for name, known in list(self.ids.items()):
            if known.state != ONGOING and known.updated_ms + expiration_ms <= now_ms:
                del self.ids[name]

    def restart(self) -> None:
        """Drop what the log does not store: the previous epoch, and at level 0 the previous producer id."""
        for known in self.ids.values():
            known.last = -1
            if not self.level:
                known.previous_pid = -1
