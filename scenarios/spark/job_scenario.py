"""The content of a scenario file with Spark: topics, steps and expectations; job_scenario_files reads and checks it.

Events of applications and of jobs are identified by their record header `event`.
"""

from __future__ import annotations

from msgspec import Struct

from ..scenario import ALL_VERSIONS
from ..steps import Arm, Batch, Lift, StartNode, StopNode


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="do", tag=True):
    """A step."""


class Send(Step, frozen=True, tag="send"):
    """The application sends batches to a topic, and waits for the responses.

    again: whether it repeats events of earlier batches, with new sequences.
    """

    topic: str
    batches: list[str]
    again: bool = False


class WriteJob(Step, frozen=True, tag="write"):
    """A Spark job writes events to a topic.

    job: its name in the scenario. options: of Spark's kafka format. value_bytes: per event. attempts: per task.
    """

    job: str
    topic: str
    events: int
    value_bytes: int = 100
    attempts: int = 4
    options: dict[str, str] = {}


class CopyJob(Step, frozen=True, tag="copy"):
    """A Spark stream copies the available records of a topic to another one, and ends.

    checkpoint: its name; a stream with the same checkpoint continues where the last one ended. follow: whether it runs
    beside the next steps, until `end_copy`. options: of the source.
    """

    job: str
    topic: str
    to: str
    checkpoint: str
    follow: bool = False
    options: dict[str, str] = {}


class EndCopy(Step, frozen=True, tag="end_copy"):
    """A stream that follows its topic copies the rest, and ends."""

    job: str


class AwaitRows(Step, frozen=True, tag="await_rows"):
    """The next step waits until a topic has that many records."""

    topic: str
    rows: int


class Recreate(Step, frozen=True, tag="recreate"):
    """The topic is deleted and created again."""

    topic: str


class LoseWrites(Step, frozen=True, tag="lose_writes"):
    """From now on writes to a topic's log are acknowledged but lost in the next crash."""

    topic: str


class Crash(Step, frozen=True, tag="crash"):
    """The broker crashes as with SIGKILL, and restarts with the content of its disk."""


class AuditLog(Step, frozen=True, tag="audit"):
    """`fauxka audit` checks a topic.

    sent_to: the topics whose acknowledged events of the application are the ledger of the audit.
    """

    topic: str
    sent_to: list[str] = []


class DedupLog(Step, frozen=True, tag="dedup"):
    """`fauxka dedup` writes one copy of each event of a topic to another one."""

    topic: str
    to: str


AnyJobStep = (
    Arm
    | Lift
    | Send
    | WriteJob
    | CopyJob
    | EndCopy
    | AwaitRows
    | Recreate
    | LoseWrites
    | Crash
    | StopNode
    | StartNode
    | AuditLog
    | DedupLog
)


class JobExpectation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The expected result.

    jobs: the status of each job. failed_attempts: the failed attempts of a job's tasks. told: a part of a failure of a
    job or of its tasks. read: the rows that a stream read. rows, events: the records and the different events in a
    topic. found: all findings of a topic's audit, by kind and cause. dropped: the copies that a topic's dedup dropped.
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
    """One scenario. topics: the number of partitions by topic. nodes: of the broker."""

    name: str
    title: str
    story: str
    topics: dict[str, int]
    steps: list[AnyJobStep]
    expect: JobExpectation
    batches: dict[str, Batch] = {}
    versions: str = ALL_VERSIONS
    nodes: int = 1

    @property
    def has_application(self) -> bool:
        """Whether a client sends events, besides Spark."""
        return bool(self.topics_of_application)

    @property
    def topics_of_application(self) -> set[str]:
        """The topics that the application sends to."""
        return {step.topic for step in self.steps if isinstance(step, Send)}
