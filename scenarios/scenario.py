"""The content of a scenario file: steps and expectations; scenario_files reads and checks it.

`only` limits a step or an expectation to clients: "raw", "real" for all others, or a client's name.
`versions` limits it to Kafka versions, such as "0.11..2.4".
"""

from __future__ import annotations

from msgspec import Struct, field

from ..storage.producers.emulated_version import EmulatedVersion
from .steps import Acks, AnyStep, Batch, Mechanism

RAW = "raw"
REAL = "real"

# The default of `versions`.
ALL_VERSIONS = "0.11..4.5"


class ExpectedFinding(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A finding of a verdict. offsets: the first and the last one. why: a part of its sentence."""

    kind: str
    offsets: list[int]
    why: str


class Expectation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The expected result; fields that are left out are not checked.

    log: the batches of each partition's log, in order. committed: the batches that a read_committed consumer reads.
    ends: the error names of ended transactions, in order; NONE without an error.
    answers: the delivery result of a batch: "copy 1" for the offset of its first copy in the log, an error name, or
        "none" without a response.
    decisions: the decisions about a batch, one per attempt. With a real client, others may lie between them.
    why: a part of the broker's reason for a decision.
    cached: the names of the last producer's cached batches at the end.
    copies: the number of copies of each event of a batch in all logs.
    verdict: counts of the verdict. findings: all of the verdict on the topic. groups: all of the verdict on each group.
    producers, epochs: the number of producer ids and the epochs in the logs.
    streamed_once: whether each event of a stream is in the log once, in order.
    consumed: the batches that each consumer has read, in order, and again if it read them again.
    errors: the errors that the steps read_error have read, by consumer.
    authenticates_again: whether a connection of the first producer has authenticated more than once (KIP-368).
    waits: the time in ms that passes at least between the first requests of two batches, such as "A, B".
    resets: why each consumer had to continue at another offset: DIVERGING_EPOCH or OFFSET_OUT_OF_RANGE.
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
    findings: list[ExpectedFinding] | None = None
    groups: dict[str, list[ExpectedFinding]] = {}
    producers: int | None = None
    epochs: list[int] | None = None
    streamed_once: bool = False
    consumed: dict[str, list[str]] = {}
    resets: dict[str, list[str]] = {}
    errors: dict[str, list[str]] = {}
    authenticates_again: bool | None = None
    waits: dict[str, int] = {}


class Scenario(Struct, frozen=True, kw_only=True):
    """One scenario.

    unable: the clients that cannot run it, with the reason. idempotent: enable.idempotence.
    in_flight: whether several batches must be in flight; they are then as small as the client requires.
    request_ms, delivery_ms: the request and delivery timeouts of the client.
    on_disk: whether the broker is a process with a data folder. transactional_id: of the first producer.
    login: the mechanism by which the clients authenticate as the user alice; None for a listener without SASL.
    token_ms: the lifetime of the tokens of OAUTHBEARER. broker_config: Kafka's keys of the broker.
    allowed: the operations on the topic that ACLs allow the user from the start.
    acks: of the first producer. nodes: of the cluster; with several, node 1 leads all partitions of the topic first.
    tls: whether the clients connect by TLS, to a broker with one node that is not on_disk; the raw client has no TLS.
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
    acks: Acks = "all"
    nodes: int = 1
    tls: bool = False
    topic_config: dict[str, str] = field(default_factory=dict[str, str])
    login: Mechanism | None = None
    token_ms: int | None = None
    broker_config: dict[str, str] = field(default_factory=dict[str, str])
    allowed: list[str] = []

    def steps_for(self, client: str) -> list[AnyStep]:
        """Return the steps for a client."""
        return [step for step in self.steps if applies_to(step.only, client)]

    def expected_of(self, client: str, version: str) -> list[Expectation]:
        """Return the expectations for a client and a version."""
        return [
            expected
            for expected in self.expect
            if applies_to(expected.only, client) and is_within(expected.versions, version)
        ]


def applies_to(only: list[str], client: str) -> bool:
    """Whether the list of clients `only` includes client."""
    return not only or client in only or (REAL in only and client != RAW)


def is_within(versions: str, version: str) -> bool:
    """Whether a range such as "0.11..2.4" contains the version."""
    first, last = versions.split("..")
    return version_numbers(first) <= version_numbers(version) <= version_numbers(last)


def version_numbers(version: str) -> tuple[int, ...]:
    """Return major and minor version; raises ValueError for an unsupported version."""
    return tuple(int(part) for part in EmulatedVersion.parse(version).name.split(".")[:2])
