"""What the file of a scenario with Spark says: its topics, what is done step by step, and what must be seen.

A file is data; everything that is wrong with it is found when it is read (job_scenario_files). Events are told apart by
their header `event`, which an application's and a job's have alike.
"""

from __future__ import annotations

from msgspec import Struct

from ..scenario import ALL_VERSIONS, Arm, Batch, Lift

SUCCEEDED = "succeeded"
FAILED = "failed"


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="do", tag=True):
    """Something that is done."""


class Send(Step, frozen=True, tag="send"):
    """The application sends batches to a topic, and waits for the answers.

    again: it sends events that it sent before; they are the same, and get new sequences.
    """

    topic: str
    batches: list[str]
    again: bool = False


class WriteJob(Step, frozen=True, tag="write"):
    """A Spark job writes events to a topic. job: its name here. options: of Spark's format kafka.

    value_bytes: of each event. attempts: how often Spark runs a task.
    """

    job: str
    topic: str
    events: int
    value_bytes: int = 100
    attempts: int = 4
    options: dict[str, str] = {}


class CopyJob(Step, frozen=True, tag="copy"):
    """A Spark stream copies what there is in a topic to another one, from where its checkpoint is, and ends.

    checkpoint: its name; streams with the same one go on where the one before ended. options: of the source.
    """

    job: str
    topic: str
    to: str
    checkpoint: str
    options: dict[str, str] = {}


class Recreate(Step, frozen=True, tag="recreate"):
    """The topic is deleted, and made again."""

    topic: str


class LoseWrites(Step, frozen=True, tag="lose_writes"):
    """From here on what is appended to a topic's log is acknowledged, and does not get to its disk."""

    topic: str


class Crash(Step, frozen=True, tag="crash"):
    """The broker dies as by SIGKILL, and is started again with what its disk holds."""


class AuditLog(Step, frozen=True, tag="audit"):
    """`fauxka audit` looks at a topic.

    sent_to: what the application sent to these topics, and was told to be there, is the ledger of what must be in it.
    """

    topic: str
    sent_to: list[str] = []


class DedupLog(Step, frozen=True, tag="dedup"):
    """`fauxka dedup` writes one copy of each event of a topic to another one."""

    topic: str
    to: str


AnyJobStep = Arm | Lift | Send | WriteJob | CopyJob | Recreate | LoseWrites | Crash | AuditLog | DedupLog


class JobExpectation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must be seen in the end.

    jobs: what Spark says of each. failed_attempts: how many of a job's tasks failed. told: a part of what went wrong
    in a job, or in one of its tasks. read: how many rows a stream read. rows, events: how many records, and how many
    different events, are in a topic. found: all that the audit of a topic finds, by kind and cause. dropped: how many
    copies a topic's dedup left out.
    """

    jobs: dict[str, str] = {}
    failed_attempts: dict[str, int] = {}
    told: dict[str, str] = {}
    read: dict[str, int] = {}
    rows: dict[str, int] = {}
    events: dict[str, int] = {}
    found: dict[str, dict[str, int]] = {}
    dropped: dict[str, int] = {}


class JobScenario(Struct, frozen=True, kw_only=True):
    """One scenario. topics: with their numbers of partitions."""

    name: str
    title: str
    story: str
    topics: dict[str, int]
    steps: list[AnyJobStep]
    expect: JobExpectation
    batches: dict[str, Batch] = {}
    versions: str = ALL_VERSIONS

    @property
    def has_application(self) -> bool:
        """Whether a client sends, and not Spark alone."""
        return bool(self.topics_of_application)

    @property
    def topics_of_application(self) -> set[str]:
        """The topics that the application sends to."""
        return {step.topic for step in self.steps if isinstance(step, Send)}
