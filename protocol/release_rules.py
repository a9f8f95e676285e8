"""What brokers of different releases decide differently, one rule for each change of Kafka.

- A rule is true from a release on, and a few until another one. Code asks for the rule, and never compares releases.
- What follows from the versions of an API has no rule: an older release does not have the version.
- The rules for producer states are in EmulatedVersion (storage/producers).
- A release that was not measured has the rule of the next older one that was.

Source: responses of real brokers, tests/golden/releases; the changes by their KIP or their issue.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from .apis.api import Release


class ReleaseRules(NamedTuple):
    """The rules of one release.

    refuses_joins_without_generation: a JoinGroup that is refused gets generation -1. Without it, 0.
    has_invalid_record: unlawful batches get INVALID_RECORD, and the response has the log start offset (KIP-467).
    Without it they get CORRUPT_MESSAGE, and neither they nor invalid timestamps have the log start offset.
    reports_all_record_errors: the response has an error for each invalid record. Without it, for the first one, whose
    text is the error message.
    refuses_compressed_offsets: a compressed batch whose offset deltas do not count from 0 gets INVALID_RECORD.
    fails_for_compressed_offsets: such a batch gets UNKNOWN_SERVER_ERROR. Without both, it is rebuilt.
    ends_in_current_epoch_only: EndTxn of an epoch that is too high changes nothing. Without it the outcome is
    decided, the response is an error, and no marker is written.
    allows_early_heartbeats: a heartbeat before the leader's SyncGroup succeeds. Without it, REBALANCE_IN_PROGRESS.
    answers_malformed_records: records without a whole batch get an error (KAFKA-9628). Without it the connection is
    closed.
    counts_record_errors: the message for invalid records has their number and the first three of them.
    has_plain_key_error: the text for a record without a key ends with the partition. Without it, with a full stop.
    creates_topics_after_metadata: a Metadata request that creates a topic gets UNKNOWN_TOPIC_OR_PARTITION (KRaft,
    KIP-833). Without it, LEADER_NOT_AVAILABLE (ZooKeeper).
    limits_min_isr: min.insync.replicas is at most the number of replicas.
    allows_timestamp_type: a client may set the timestamp type bit on a topic with CreateTime.
    verifies_transactions: a transactional batch must belong to an open transaction of its producer (KIP-890).
    hides_verification_errors: most refusals of a verified batch have no error message. Without it, Kafka's text of the
    error code.
    verifies_offset_commits: so must offsets that are committed in a transaction (KIP-890).
    has_transaction_abortable: the error code TRANSACTION_ABORTABLE exists (KIP-890).
    ignores_null_records: null records have no UNKNOWN_SERVER_ERROR.
    checks_epoch_of_offset_commits: TxnOffsetCommit of an old epoch gets INVALID_PRODUCER_EPOCH (KIP-848). Without it,
    UNKNOWN_SERVER_ERROR.
    starts_transactions_at_zero: the first batch that adds its partition to a transaction must have sequence 0, if the
    producer has no state there.
    delays_assignments: two target assignments of a group are at least group.*.assignment.interval.ms apart. Without it,
    each epoch of a group has its own.
    completes_streams_groups: streams groups have static members and the offsets of tasks, a standby task that becomes
    active stays until then, and the epoch of the assignment follows the last member that leaves (KIP-1071). Without it,
    as Kafka begins them.
    fences_in_one_epoch: an abort by the broker raises the epoch once (KAFKA-19367). Without it, twice in transaction
    version 2.
    """

    refuses_joins_without_generation: bool
    has_invalid_record: bool
    reports_all_record_errors: bool
    refuses_compressed_offsets: bool
    fails_for_compressed_offsets: bool
    ends_in_current_epoch_only: bool
    allows_early_heartbeats: bool
    answers_malformed_records: bool
    counts_record_errors: bool
    has_plain_key_error: bool
    creates_topics_after_metadata: bool
    limits_min_isr: bool
    allows_timestamp_type: bool
    verifies_transactions: bool
    hides_verification_errors: bool
    verifies_offset_commits: bool
    has_transaction_abortable: bool
    ignores_null_records: bool
    checks_epoch_of_offset_commits: bool
    starts_transactions_at_zero: bool
    fences_in_one_epoch: bool
    delays_assignments: bool
    completes_streams_groups: bool


# The release that brought each rule.
RULES_SINCE: Mapping[str, Release] = {
    "refuses_joins_without_generation": (2, 2),
    "has_invalid_record": (2, 4),
    "reports_all_record_errors": (2, 5),
    "refuses_compressed_offsets": (2, 4),
    "fails_for_compressed_offsets": (2, 6),
    "ends_in_current_epoch_only": (2, 6),
    "allows_early_heartbeats": (2, 6),
    "answers_malformed_records": (2, 8),
    "counts_record_errors": (3, 3),
    "has_plain_key_error": (3, 5),
    "creates_topics_after_metadata": (3, 3),
    "limits_min_isr": (3, 7),
    "allows_timestamp_type": (3, 6),
    "verifies_transactions": (3, 6),
    "hides_verification_errors": (3, 7),
    "verifies_offset_commits": (3, 7),
    "has_transaction_abortable": (3, 8),
    "ignores_null_records": (3, 8),
    "checks_epoch_of_offset_commits": (4, 0),
    "starts_transactions_at_zero": (4, 1),
    "fences_in_one_epoch": (4, 1),
    "delays_assignments": (4, 3),
    "completes_streams_groups": (4, 4),
}


# The first release without a rule that was given up.
RULES_UNTIL: Mapping[str, Release] = {"refuses_compressed_offsets": (2, 5)}


@cache
def rules_of(release: Release) -> ReleaseRules:
    """Return the rules of a release."""
    return ReleaseRules(
        **{name: since <= release < RULES_UNTIL.get(name, (99, 0)) for name, since in RULES_SINCE.items()}
    )


# The rules that the newest release with a change has.
NEWEST_RULES = rules_of(max(RULES_SINCE.values()))
