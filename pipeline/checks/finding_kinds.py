"""The kinds of findings by check: which of them are faults, and what to do next. docs/findings.md explains each.

One table, FINDING_KINDS, has all of it. A kind has one sentence of advice, and a cause that needs another one has its
own. The command that shows more of a finding follows from its place (report/shown_commands.py), not from its kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ..bad_option import BadOption

# The subject of a check: a producer's sequences, events by id, a ledger of sent events, the log itself, consumer
# groups, and what another side has of the log.
Check = Literal["sequence", "event", "ledger", "log", "group", "compare"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of finding. advice: what to do next. causes: the advice for causes that need another one.

    is_fault: whether a log with only such findings is not clean.
    """

    advice: str
    causes: Mapping[str, str] = field(default_factory=dict[str, str])
    is_fault: bool = True


_LOST_STATE = "Check the broker for an unclean leader election or expired producer state (producer.id.expiration.ms)"
_FROM_REPLICA = (
    "Move the partition's folder away while the broker is stopped, so that the broker fetches it from another replica"
)
_READ_COMMITTED = "Set isolation.level=read_committed in the consumer that fills the right side."

# A copy in a topic, by the cause of event_audit.copy_cause.
_OF_COPIES: dict[str, str] = {
    "other_partition": (
        "Find where the application sends the event twice, and whether the number of partitions or the partitioner"
        " has changed."
    ),
    "idempotence_off": (
        "Set enable.idempotence=true and acks=all in the producer, so that the broker drops a retried batch."
    ),
    "producer_restarted": (
        "Send in transactions with a fixed transactional.id, and store the progress of the input in them."
    ),
    "not_deduplicated": f"{_LOST_STATE}: it should have dropped this retry.",
    "re_sequenced_after_epoch_bump": (
        "Raise delivery.timeout.ms, so that the producer waits for acknowledgements instead of sending with new"
        " sequences."
    ),
    "sent_again": (
        "Let only the producer retry, not the application or a task that runs again, or send in a transaction."
    ),
}

_OF_SEQUENCES: dict[str, Kind] = {
    "gap": Kind("Look for failed sends in the log of this producer's application, and send the missing records again."),
    "repeat": Kind(f"{_LOST_STATE}, and remove the copies with fauxka dedup."),
    "regression": Kind(f"{_LOST_STATE}, and set max.in.flight.requests.per.connection to 5 or less."),
    "epoch_regression": Kind(f"Stop the older instance of the producer, which was not fenced. {_LOST_STATE}."),
}

_OF_LOGS: dict[str, Kind] = {
    "damaged_batch": Kind(
        f"{_FROM_REPLICA}, and check the disk.",
        {
            "cut_off": (
                "Start the broker on this folder, whose recovery truncates the batch, and compare another replica"
                " with --replica."
            ),
            "unreadable_records": (
                "Correct the serializer or the compression of the producer that wrote it: the CRC is right, so all"
                " replicas have these bytes."
            ),
        },
    ),
    "missing_offsets": Kind(
        "Look for deleted or uncopied segment files, compare another replica with --replica, and restore the partition"
        " from it."
    ),
    "offset_regression": Kind(
        "Check whether the folder has segments of two replicas or of an older copy, and restore the partition from one"
        " replica."
    ),
    "truncated_log": Kind(
        "Compare another replica with --replica, restore the partition from it, and look for lost files, an old backup"
        " or a power failure.",
        {
            "high_watermark": (
                "Compare another replica with --replica, restore the partition from it, and set"
                " unclean.leader.election.enable=false: consumers could read these records."
            )
        },
    ),
    "leader_epoch_regression": Kind(
        "Compare the replicas with --replica, and keep the one with the newest leader epoch: this one was not"
        " truncated after an election."
    ),
    "leader_epoch_mismatch": Kind(f"{_FROM_REPLICA}: its leader-epoch-checkpoint is not that of its segments."),
    "replica_divergence": Kind(
        f"{_FROM_REPLICA}, for the replica with the older leader epoch, and set unclean.leader.election.enable=false."
    ),
    "hanging_transaction": Kind(
        "Abort it with kafka-transactions.sh abort --topic, --partition and --start-offset, so that read_committed"
        " consumers go on."
    ),
    "aborted_transaction": Kind(
        "Set isolation.level=read_committed in the consumers, which then skip these records.", is_fault=False
    ),
    "open_transaction": Kind(
        "Wait for its marker: it is committed, or aborted after transaction.timeout.ms, and read_committed consumers"
        " wait until then.",
        is_fault=False,
    ),
    "compacted_offsets": Kind(
        "Set cleanup.policy=delete if each record must stay; otherwise nothing is to be done.", is_fault=False
    ),
    "old_format": Kind(
        "Upgrade the clients that write them before the brokers: Kafka 4.0 and later accept no messages of magic 0"
        " and 1.",
        is_fault=False,
    ),
    "unreplicated_records": Kind(
        "Compare again when the follower has caught up, and set acks=all with min.insync.replicas=2 if each record"
        " counts.",
        is_fault=False,
    ),
}

_OF_EVENTS: dict[str, Kind] = {
    "duplicate": Kind("Remove the copies with fauxka dedup, and look for their sender.", _OF_COPIES),
    "repeated_event_id": Kind(
        "Choose another --event-id, or join several with +: this one does not identify an event."
    ),
    "no_event_id": Kind("Set the id in each record that is sent, or choose an --event-id that all records have."),
    "version_regression": Kind(
        "Send each key from one producer with enable.idempotence=true, and skip older versions in the consumers."
    ),
    "no_version": Kind("Set the version in each record that is sent, or choose another --version-field."),
    "late": Kind(
        "Look for a backlog or a wrong clock of the producer at that time, and give windows over event times a longer"
        " delay."
    ),
    "no_event_time": Kind("Set the event time in each record that is sent, or choose another --event-time-field."),
}

_OF_LEDGERS: dict[str, Kind] = {
    "lost": Kind(
        "Send the event again, and set acks=all, min.insync.replicas=2 and unclean.leader.election.enable=false.",
        {
            "aborted_transaction": (
                "Count a send as done only after commitTransaction, and send the events of the aborted transaction"
                " again."
            )
        },
    ),
    "ambiguous_success": Kind(
        "Set enable.idempotence=true and a longer delivery.timeout.ms, and look the event up before it is sent again."
    ),
    "offset_differs": Kind(
        "Check whether the topic was truncated or created again after the acknowledgement, and do not use stored"
        " offsets from before."
    ),
    "unknown_event": Kind(
        "Find the sender by its producer id: either it writes no ledger, or the ledger is incomplete."
    ),
    "reordered": Kind(
        "Send each key from one thread, with enable.idempotence=true or max.in.flight.requests.per.connection=1."
    ),
    "expired": Kind(
        "Raise retention.ms or retention.bytes if consumers still need it.",
        {"compaction": "Set cleanup.policy=delete if each event must stay: compaction keeps the last one of a key."},
        is_fault=False,
    ),
}

_OF_GROUPS: dict[str, Kind] = {
    "offset_beyond_end": Kind(
        "Reset the group with kafka-consumer-groups.sh --reset-offsets; without that auto.offset.reset decides where"
        " it goes on."
    ),
    "unread_records_deleted": Kind(
        "Raise retention.ms or add consumers; auto.offset.reset=earliest goes on at the log start, latest skips the"
        " rest too."
    ),
    "commit_regression": Kind(
        "Commit only offsets of assigned partitions, and before onPartitionsRevoked returns, so that records are not"
        " processed twice."
    ),
    "stalled_commits": Kind(
        "Look at the record at this offset, on which the consumer fails, and skip it or send it to a dead-letter topic."
    ),
    "offset_in_hole": Kind(
        "Look at the missing_offsets of the partition; the consumer goes on at the next offset.", is_fault=False
    ),
    "uncommitted_read": Kind(
        "Set isolation.level=read_committed if the group must not process open and aborted transactions.",
        is_fault=False,
    ),
}

_OF_COMPARISONS: dict[str, Kind] = {
    "lost": Kind(
        "Read these offsets again into the right side, and commit offsets only after the records are stored there.",
        {
            "aborted_transaction": (
                "Seek the consumer back to the committed offsets after abortTransaction, so that the record is"
                " processed again."
            ),
            "partition_absent": (
                "Check that the pipeline reads this partition and has a running task for it, and read it again from its"
                " start."
            ),
            "tombstone": (
                "Let the sink delete the row of a null value, or leave such records out with --optional 'value is"
                " null'."
            ),
        },
    ),
    "duplicated": Kind(
        "Make the write to the right side idempotent, and look for the sender of the copy.",
        {
            **_OF_COPIES,
            "written_twice": (
                "Let the sink upsert by topic, partition and offset, so that a write that is repeated replaces the row."
            ),
            "sent_twice": "Audit the left side with fauxka audit --event-id: the record was sent again to the topic.",
        },
    ),
    "extra": Kind(
        "Find what else writes to the right side, or leave its rows out with --right-where.",
        {
            "aborted_transaction": _READ_COMMITTED,
            "open_transaction": _READ_COMMITTED,
            "beyond_end": (
                "Find out whether the left topic was created again or truncated by an unclean leader election, and"
                " remove rows of the old log."
            ),
        },
    ),
    "changed": Kind(
        "Look for a transform, an encoding or a number format on the way, or compare less with --left-value and"
        " --right-value."
    ),
    "reordered": Kind(
        "Process each key in one task, and set enable.idempotence=true in the producers between the two sides."
    ),
    "late": Kind("Look at the lag of the consumer group at that time, and add partitions and consumers if it grows."),
    "no_event_id": Kind("Choose an --event-id or --offset-columns that each record of both sides has."),
    "pending": Kind(
        "Compare again when the right side has caught up, or with --caught-up if nothing more will arrive.",
        is_fault=False,
    ),
    "expired": Kind(
        "Raise the retention of the side that lacks the record, if it must still be there.",
        {"compaction": "Set cleanup.policy=delete on the side that lacks the record, if each record must stay."},
        is_fault=False,
    ),
}

FINDING_KINDS: dict[Check, dict[str, Kind]] = {
    "sequence": _OF_SEQUENCES,
    "log": _OF_LOGS,
    "event": _OF_EVENTS,
    "ledger": _OF_LEDGERS,
    "group": _OF_GROUPS,
    "compare": _OF_COMPARISONS,
}
ALL_KINDS = tuple(dict.fromkeys(name for kinds in FINDING_KINDS.values() for name in kinds))

# A log with only these findings is clean.
HARMLESS_KINDS = frozenset(
    name for kinds in FINDING_KINDS.values() for name, kind in kinds.items() if not kind.is_fault
)
FAULTS = frozenset(ALL_KINDS) - HARMLESS_KINDS

# The value of --fail-on for no kind.
_NO_KIND = "none"


def advice_of(check: str, kind: str, cause: str | None) -> str:
    """Return what to do next about a finding. Raises KeyError for an unknown kind."""
    found = next(kinds[kind] for name, kinds in FINDING_KINDS.items() if name == check)
    return found.advice if cause is None else found.causes.get(cause, found.advice)


def parse_fail_on(text: str) -> frozenset[str]:
    """Return the kinds of --fail-on. text: kinds separated by commas, or none. Raises BadOption."""
    if text.strip() == _NO_KIND:
        return frozenset()
    kinds = [kind.strip() for kind in text.split(",")]
    unknown = [kind for kind in kinds if kind not in ALL_KINDS]
    if unknown:
        raise BadOption(f"fail-on: must be {_NO_KIND}, or some of {', '.join(sorted(ALL_KINDS))}, not {unknown[0]}")
    return frozenset(kinds)
