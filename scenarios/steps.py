"""The steps of a scenario file, and the batches that they send.

`only` limits a step to clients: "raw", "real" for all others, or a client's name.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from ..admin.operations.clock_operations import Members
from ..broker.isolation import Surroundings
from ..broker.security.tls.listener_tls import CertificateKind

Acks = Literal["all", "1"]
Mechanism = Literal["PLAIN", "OAUTHBEARER"]


class Batch(Struct, frozen=True):
    """Events that are sent as one batch; the sequences are those of the raw client, both inclusive."""

    name: str
    first_sequence: int
    last_sequence: int

    @property
    def count(self) -> int:
        """The number of events; sequences wrap to 0 after the greatest."""
        return ((self.last_sequence - self.first_sequence) & 0x7FFFFFFF) + 1

    def at_most(self, count: int | None) -> Batch:
        """Return the batch with at most count events."""
        if count is None or self.count <= count:
            return self
        return Batch(self.name, self.first_sequence, self.first_sequence + count - 1)


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="do", tag=True):
    """A step. only: its clients, all if empty. says: a note in the timeline."""

    only: list[str] = []
    says: str = ""


class Send(Step, frozen=True, tag="send"):
    """The application sends batches, each in its own request, without waiting for responses.

    again: whether the application repeats events of earlier batches, with new sequences.
    by: the producer; "" is the first one.
    """

    batches: list[str]
    partition: int = 0
    again: bool = False
    by: str = ""


class Stream(Step, frozen=True, tag="stream"):
    """The application sends events at a steady rate for some time."""

    events_per_second: int
    for_ms: int
    batch_ms: int = 10


class Settle(Step, frozen=True, tag="settle"):
    """The client waits for all responses and retries. retries: whether the raw client retries too."""

    retries: bool = True
    by: str = ""


class StartProducer(Step, frozen=True, tag="start_producer"):
    """Another process starts an idempotent producer.

    by: its name in the scenario. transactional_id: fences another producer with the same id; None without transactions.
    """

    by: str
    transactional_id: str | None = None


class BeginTransaction(Step, frozen=True, tag="begin_transaction"):
    """A producer begins a transaction."""

    by: str = ""


class EndTransaction(Step, frozen=True, tag="end_transaction"):
    """A producer commits or aborts its transaction; the result is compared with the expected `ends`."""

    commit: bool
    by: str = ""


class GiveUp(Step, frozen=True, tag="give_up"):
    """The application waits for the delivery timeout, without a response."""


class Arm(Step, frozen=True, tag="arm"):
    """The test arms rules: one for each of the batches, or one for `match`."""

    name: str
    point: str
    action: dict[str, Any]
    batches: list[str] = []
    match: dict[str, Any] = {}
    when: dict[str, Any] = {}


class AwaitHits(Step, frozen=True, tag="await"):
    """The test waits until every rule of that name has this number of hits."""

    rule: str
    hits: int = 1


class Lift(Step, frozen=True, tag="lift"):
    """The test removes the rules of that name."""

    rule: str


class Release(Step, frozen=True, tag="release"):
    """The broker releases all held requests."""


class Advance(Step, frozen=True, tag="advance"):
    """The broker's clock is advanced by ms milliseconds. members: as in POST /v1/clock."""

    ms: int
    members: Members = "keep"


class Evict(Step, frozen=True, tag="evict_cache"):
    """The broker drops the cached batches of the producer."""

    partition: int = 0


class Forget(Step, frozen=True, tag="forget_producer"):
    """The broker removes the state of the producer."""

    partition: int = 0


class RestartProducer(Step, frozen=True, tag="restart_producer"):
    """The client's process ends, and a new one starts."""


class RaiseEpoch(Step, frozen=True, tag="raise_epoch"):
    """The raw client raises its epoch by 1."""


class Adopt(Step, frozen=True, tag="adopt"):
    """The raw client uses a producer id that no broker assigned."""

    producer_id: int
    producer_epoch: int = 0


class Intrude(Step, frozen=True, tag="intrude"):
    """Another process writes a batch with the producer id, epoch and next sequences of the client."""

    batch: str


class Kill(Step, frozen=True, tag="kill"):
    """The broker's process is killed and restarted.

    torn_bytes: the bytes of an incomplete batch at the end of its log.
    """

    torn_bytes: int


class SetQuota(Step, frozen=True, tag="set_quota"):
    """A quota of the first producer is set, by its client id. key: Kafka's name, such as producer_byte_rate."""

    key: str
    value: float


class DeleteQuotas(Step, frozen=True, tag="delete_quotas"):
    """All client quotas are deleted."""


class SetConfig(Step, frozen=True, tag="set_config"):
    """A config of the broker with one node changes while it runs."""

    key: str
    value: str


class StopNode(Step, frozen=True, tag="stop_node"):
    """A node stops: as by SIGTERM if controlled, else as by SIGKILL, and the controller learns of it at once."""

    node: int
    controlled: bool = False


class StartNode(Step, frozen=True, tag="start_node"):
    """A node that is down starts again with its logs."""

    node: int


class Isolate(Step, frozen=True, tag="isolate", rename={"from_": "from"}):
    """A node is cut off from the "controller", the other "nodes" or its "clients"."""

    node: int
    from_: list[Surroundings]


class Rejoin(Step, frozen=True, tag="rejoin"):
    """The isolation of a node ends."""

    node: int


class PauseReplication(Step, frozen=True, tag="pause_replication"):
    """The replicas of a node fetch no more, until `resume_replication`."""

    node: int


class ResumeReplication(Step, frozen=True, tag="resume_replication"):
    """The replicas of a node fetch again."""

    node: int


class MoveCoordinator(Step, frozen=True, tag="move_coordinator"):
    """A node becomes the coordinator of a transactional id or of a group."""

    node: int
    transactional_id: str | None = None
    group: str | None = None


class StartConsumer(Step, frozen=True, tag="start_consumer"):
    """A process starts a read_committed consumer of partition 0; clients without one use the raw client's.

    by: its name in the scenario. group: commits its offsets, and starts at the committed one; None for a consumer
    without a group, which starts at the beginning.
    """

    by: str
    group: str | None = None


class Consume(Step, frozen=True, tag="consume"):
    """A consumer reads until it has seen these batches. commits: whether it commits its offset then."""

    by: str
    batches: list[str]
    commits: bool = True


class Process(Step, frozen=True, tag="process"):
    """The application of a consumer in a group processes batches, and reports their events (POST /v1/processed)."""

    by: str
    batches: list[str]


class Commit(Step, frozen=True, tag="commit"):
    """A consumer commits an offset; None for the one behind what it has read."""

    by: str
    offset: int | None = None


class KillConsumer(Step, frozen=True, tag="kill_consumer"):
    """The process of a consumer ends as by SIGKILL: it neither commits nor leaves its group."""

    by: str


class StopConsumer(Step, frozen=True, tag="stop_consumer"):
    """A consumer leaves its group and ends."""

    by: str


class ReadError(Step, frozen=True, tag="read_error"):
    """A consumer reads until it gets an error, which is compared with the expected `errors`."""

    by: str


class Grant(Step, frozen=True, tag="grant"):
    """An ACL allows the user of the scenario an operation on the topic."""

    operation: str


class Revoke(Step, frozen=True, tag="revoke"):
    """The ACL of an operation on the topic is deleted."""

    operation: str


class Present(Step, frozen=True, tag="present"):
    """The broker presents another certificate in new handshakes. Connections stay open.

    certificate: a kind of POST /v1/certificates.
    """

    certificate: CertificateKind


class Wait(Step, frozen=True, tag="wait"):
    """The test waits for ms milliseconds of real time, in which clients connect again or update their metadata."""

    ms: int


ConsumerStep = StartConsumer | Consume | Process | Commit | StopConsumer | KillConsumer | ReadError
NodeStep = StopNode | StartNode | Isolate | Rejoin | PauseReplication | ResumeReplication | MoveCoordinator

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
    | SetConfig
    | Evict
    | Forget
    | RestartProducer
    | RaiseEpoch
    | Adopt
    | Intrude
    | Kill
    | SetQuota
    | DeleteQuotas
    | NodeStep
    | ConsumerStep
    | Grant
    | Revoke
    | Present
    | Wait
)
