"""What a scenario's file says: its batches, what is done step by step, and what must be seen.

A file is data; everything that is wrong with it is found when it is read (scenario_files). `only` says for which
clients something holds: "raw", "real" for all the others, or a client's name. `versions` says for which rules:
"0.11..2.4".
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from ..storage.producers.emulated_version import EmulatedVersion

RAW = "raw"
REAL = "real"

# The rules for which a scenario holds where it does not say.
ALL_VERSIONS = "0.11..4.5"


class Batch(Struct, frozen=True):
    """Events that go out as one batch; sequences are those that the raw client gives them, both ends included."""

    name: str
    first_sequence: int
    last_sequence: int

    @property
    def count(self) -> int:
        """How many events it has; sequences go on at 0 behind the greatest."""
        return ((self.last_sequence - self.first_sequence) & 0x7FFFFFFF) + 1

    def at_most(self, count: int | None) -> Batch:
        """Return the batch with no more events than that."""
        if count is None or self.count <= count:
            return self
        return Batch(self.name, self.first_sequence, self.first_sequence + count - 1)


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="do", tag=True):
    """Something that is done. only: for which clients, all where it is empty."""

    only: list[str] = []
    says: str = ""


class Send(Step, frozen=True, tag="send"):
    """The application hands batches to its producer, each in a request of its own, and waits for none of them.

    again: the application sends events that it sent before; they are the same, and get new sequences.
    by: the producer, where it is not the one that the scenario begins with.
    """

    batches: list[str]
    partition: int = 0
    again: bool = False
    by: str = ""


class Stream(Step, frozen=True, tag="stream"):
    """The application sends that many events a second, for so long."""

    events_per_second: int
    for_ms: int
    batch_ms: int = 10


class Settle(Step, frozen=True, tag="settle"):
    """The client gets an answer to all that it sent, and sends again what has none. retries: the raw client's too."""

    retries: bool = True
    by: str = ""


class StartProducer(Step, frozen=True, tag="start_producer"):
    """Another process begins to produce, beside the one that there is.

    by: what the scenario calls it. transactional_id: with the one of another producer it takes its place.
    """

    by: str
    transactional_id: str


class BeginTransaction(Step, frozen=True, tag="begin_transaction"):
    """A producer begins a transaction."""

    by: str = ""


class EndTransaction(Step, frozen=True, tag="end_transaction"):
    """A producer commits or aborts its transaction; what it is told is one of the expected `ends`."""

    commit: bool
    by: str = ""


class GiveUp(Step, frozen=True, tag="give_up"):
    """The application waits no longer than a delivery may take, and gets no answer."""


class Arm(Step, frozen=True, tag="arm"):
    """Rules are armed: one for each of the batches, or one for what `match` says."""

    name: str
    point: str
    action: dict[str, Any]
    batches: list[str] = []
    match: dict[str, Any] = {}
    when: dict[str, Any] = {}


class AwaitHits(Step, frozen=True, tag="await"):
    """Waits until every rule of that name has acted so often."""

    rule: str
    hits: int = 1


class Lift(Step, frozen=True, tag="lift"):
    """The rules of that name are taken back."""

    rule: str


class Release(Step, frozen=True, tag="release"):
    """Requests that are held go on."""


class Advance(Step, frozen=True, tag="advance"):
    """The broker's clock goes forward, in milliseconds of no time."""

    ms: int


class Evict(Step, frozen=True, tag="evict_cache"):
    """The broker forgets the cached batches of the producer, and nothing else of it."""

    partition: int = 0


class Forget(Step, frozen=True, tag="forget_producer"):
    """The broker forgets the producer."""

    partition: int = 0


class RestartProducer(Step, frozen=True, tag="restart_producer"):
    """The client's process ends, and a new one begins."""


class RaiseEpoch(Step, frozen=True, tag="raise_epoch"):
    """The raw client asks for its next epoch."""


class Adopt(Step, frozen=True, tag="adopt"):
    """The raw client writes with a producer id that no broker gave it."""

    producer_id: int
    producer_epoch: int = 0


class Intrude(Step, frozen=True, tag="intrude"):
    """Somebody else writes as the client's producer: the next sequences, so many of them."""

    batch: str


class Kill(Step, frozen=True, tag="kill"):
    """The broker's process is killed, the last bytes of a batch in its log are torn off, and it starts again.

    torn_bytes: so many bytes of a batch that was being written are in the log behind the last whole one.
    """

    torn_bytes: int


AnyStep = (
    Send
    | Stream
    | Settle
    | StartProducer
    | BeginTransaction
    | EndTransaction
    | GiveUp
    | Arm
    | AwaitHits
    | Lift
    | Release
    | Advance
    | Evict
    | Forget
    | RestartProducer
    | RaiseEpoch
    | Adopt
    | Intrude
    | Kill
)


class Expectation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must be seen; what is left out is not looked at.

    log: the batches in a partition's log, in order, by partition.
    committed: those that readers of committed records get. ends: what producers were told of the ends of transactions,
    in order: NONE where all went well.
    answers: what the client was told of a batch: "copy 1" for the offset of its first copy in the log, the name of an
    error, or "none".
    decisions: what became of a batch each time that it was sent; of a real client these, in this order, others between
    them. why: words in the broker's reason.
    cached: the names of what is remembered of the last producer in the end.
    copies: how often each event of a batch is in all logs.
    verdict: numbers of the verdict. producers, epochs: how many producer ids and which epochs are in the logs.
    streamed_once: whether each event of a stream is in the log once, in order.
    """

    only: list[str] = []
    versions: str = ALL_VERSIONS
    log: dict[str, list[str]] = {}
    committed: dict[str, list[str]] = {}
    ends: list[str] | None = None
    answers: dict[str, str] = {}
    decisions: dict[str, list[str]] = {}
    why: dict[str, str] = {}
    cached: list[str] | None = None
    copies: dict[str, int] = {}
    verdict: dict[str, dict[str, int]] = {}
    producers: int | None = None
    epochs: list[int] | None = None
    streamed_once: bool = False


class Scenario(Struct, frozen=True, kw_only=True):
    """One scenario.

    unable: clients that cannot do it, and why. idempotent: enable.idempotence. in_flight: batches must be on their way
    together, and are as small as the client needs them for that. request_ms: how long a client waits for an answer;
    delivery_ms: how long it tries at all. on_disk: its broker is a process with a data folder. transactional_id: of the
    producer that the scenario begins with.
    """

    name: str
    title: str
    story: str
    batches: dict[str, Batch]
    steps: list[AnyStep]
    expect: list[Expectation]
    unable: dict[str, str] = {}
    versions: str = ALL_VERSIONS
    partitions: int = 1
    idempotent: bool = True
    in_flight: bool = False
    delivery_ms: int | None = None
    request_ms: int | None = None
    on_disk: bool = False
    transactional_id: str | None = None
    topic_config: dict[str, str] = field(default_factory=dict[str, str])

    def steps_for(self, client: str) -> list[AnyStep]:
        """Return what is done with that client."""
        return [step for step in self.steps if is_meant(step.only, client)]

    def expected_of(self, client: str, version: str) -> list[Expectation]:
        """Return what must be seen with that client under those rules."""
        return [
            expected
            for expected in self.expect
            if is_meant(expected.only, client) and is_within(expected.versions, version)
        ]


def is_meant(only: list[str], client: str) -> bool:
    """Whether what holds for these clients holds for that one."""
    return not only or client in only or (REAL in only and client != RAW)


def is_within(versions: str, version: str) -> bool:
    """Whether a range such as "0.11..2.4" contains the version."""
    first, last = versions.split("..")
    return version_numbers(first) <= version_numbers(version) <= version_numbers(last)


def version_numbers(version: str) -> tuple[int, ...]:
    """Return a version's numbers, two of them; raises ValueError for what is none whose rules are known."""
    return tuple(int(part) for part in EmulatedVersion.parse(version).name.split(".")[:2])
