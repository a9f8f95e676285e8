"""Requests about groups, their offsets, and transactions. No member joins: epochs and member ids are wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .request import Field, Request, requests_of
from .requests_of_records import CLOSED, DOOMED, MISSING, MISSING_PARTITION, NAMES, OPEN, PRODUCER_EPOCH, PRODUCER_ID

MEMBER = "AAAAAAAAAAAAAAAAAAAAAQ"
GROUPS = (OPEN, CLOSED)
# No member is in this epoch.
EPOCH = 5
# group.min.session.timeout.ms is more, and transaction.max.timeout.ms less.
SESSION_TIMEOUT_MS, TRANSACTION_TIMEOUT_MS = 1, 10**9
GROUP_KEY, TRANSACTION_KEY, SHARE_KEY = 0, 1, 2
SHARE_PARTITION = f"{OPEN}:{MEMBER}:0"

Fields = Mapping[str, Field]


def _for_groups(
    api: str, versions: tuple[int, ...], fields_for: Callable[[str], Fields], names: Sequence[str] = GROUPS
) -> list[Request]:
    """Return a request for each group."""
    return [request for name in names for request in requests_of(api, versions, **{f"of_{name}": fields_for(name)})]


def _topics(names: Sequence[str] = NAMES, field: str = "name", **others: Field) -> list[Field]:
    return [{field: name, **others} for name in names]


def _identified(**others: Field) -> list[Field]:
    return [{"name": name, "topic_id": name, **others} for name in NAMES]


def _join(group: str) -> Fields:
    return {
        "group_id": group,
        "session_timeout_ms": SESSION_TIMEOUT_MS,
        "rebalance_timeout_ms": SESSION_TIMEOUT_MS,
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": bytes(10)}],
    }


def _sync(group: str) -> Fields:
    return {
        "group_id": group,
        "member_id": MEMBER,
        "generation_id": EPOCH,
        "protocol_type": "consumer",
        "protocol_name": "range",
    }


def _commit(group: str) -> Fields:
    partition: Field = {"partition_index": 0, "committed_offset": 1}
    return {
        "group_id": group,
        "member_id": MEMBER,
        "generation_id_or_member_epoch": EPOCH,
        "topics": _identified(partitions=[partition]),
    }


def _fetch_offsets(group: str) -> Fields:
    return {"group_id": group, "topics": _topics(partition_indexes=[0])}


def _fetch_offsets_of(topics: list[Field] | None) -> Fields:
    groups: list[Field] = [{"group_id": group, "topics": topics} for group in (*GROUPS, MISSING)]
    return {"groups": groups}


def _consume(group: str, **others: Field) -> Fields:
    return {
        "group_id": group,
        "member_id": MEMBER,
        "member_epoch": EPOCH,
        "subscribed_topic_names": [OPEN, CLOSED],
        **others,
    }


def _share(group: str, **others: Field) -> Fields:
    return {"group_id": group, "member_id": MEMBER, "share_session_epoch": EPOCH, **others}


def _in_streams(group: str) -> Fields:
    topology: Field = {
        "epoch": 0,
        "subtopologies": [{"subtopology_id": "0", "source_topics": [OPEN], "repartition_sink_topics": [CLOSED]}],
    }
    return {"group_id": group, "member_id": MEMBER, "member_epoch": 0, "topology": topology}


def _in_transaction(transactional_id: str, **others: Field) -> dict[str, Field]:
    return {
        "transactional_id": transactional_id,
        "producer_id": PRODUCER_ID,
        "producer_epoch": PRODUCER_EPOCH,
        **others,
    }


def _add_partitions(transactional_id: str) -> Fields:
    return {
        "v3_and_below_transactional_id": transactional_id,
        "v3_and_below_producer_id": PRODUCER_ID,
        "v3_and_below_producer_epoch": PRODUCER_EPOCH,
        "v3_and_below_topics": _topics(partitions=[0]),
    }


def _commit_in_transaction(transactional_id: str, group: str) -> Fields:
    partition: Field = {"partition_index": 0, "committed_offset": 1}
    return _in_transaction(transactional_id, group_id=group, topics=_topics(partitions=[partition]))


_PAIRS = ((OPEN, OPEN), (OPEN, CLOSED), (CLOSED, OPEN))
_MARKER: Field = {
    "producer_id": PRODUCER_ID,
    "producer_epoch": PRODUCER_EPOCH,
    "topics": _topics(partition_indexes=[MISSING_PARTITION]),
}
_OF_MEMBERS: list[Request] = [
    *_for_groups("JoinGroup", (0, 5, 9), _join),
    *_for_groups("SyncGroup", (0, 5), _sync),
    *_for_groups("Heartbeat", (0, 4), lambda group: {"group_id": group, "member_id": MEMBER, "generation_id": EPOCH}),
    *_for_groups(
        "LeaveGroup",
        (2, 5),
        lambda group: {"group_id": group, "member_id": MEMBER, "members": [{"member_id": MEMBER}]},
    ),
    *_for_groups("ConsumerGroupHeartbeat", (0, 1), _consume),
    *requests_of(
        "ConsumerGroupHeartbeat",
        (1,),
        by_a_pattern=_consume(OPEN, subscribed_topic_names=None, subscribed_topic_regex="o.*"),
    ),
    *_for_groups(
        "ShareGroupHeartbeat",
        (1,),
        lambda group: {
            "group_id": group,
            "member_id": MEMBER,
            "member_epoch": EPOCH,
            "subscribed_topic_names": [OPEN, CLOSED],
        },
    ),
    *_for_groups("StreamsGroupHeartbeat", (0,), _in_streams),
    *_for_groups(
        "ShareFetch",
        (1, 2),
        lambda group: _share(group, topics=[{"topic_id": OPEN, "partitions": [{"partition_index": 0}]}]),
    ),
    *_for_groups(
        "ShareAcknowledge",
        (1, 2),
        lambda group: _share(group, topics=[{"topic_id": OPEN, "partitions": [{"partition_index": 0}]}]),
    ),
]
_OF_GROUPS: list[Request] = [
    *requests_of("FindCoordinator", (0, 3), of_a_group={"key": OPEN, "key_type": GROUP_KEY}),
    *requests_of("FindCoordinator", (1, 3), of_a_transaction={"key": OPEN, "key_type": TRANSACTION_KEY}),
    *requests_of(
        "FindCoordinator",
        (4, 6),
        of_groups={"key_type": GROUP_KEY, "coordinator_keys": list(NAMES)},
        of_transactions={"key_type": TRANSACTION_KEY, "coordinator_keys": list(NAMES)},
    ),
    *requests_of(
        "FindCoordinator", (6,), of_share_partitions={"key_type": SHARE_KEY, "coordinator_keys": [SHARE_PARTITION]}
    ),
    *requests_of(
        "DescribeGroups",
        (0, 3, 5, 6),
        only={"groups": [*GROUPS, MISSING], "include_authorized_operations": True},
    ),
    *requests_of(
        "ConsumerGroupDescribe",
        (0, 1),
        only={"group_ids": [*GROUPS, MISSING], "include_authorized_operations": True},
    ),
    *requests_of(
        "ShareGroupDescribe", (1,), only={"group_ids": [*GROUPS, MISSING], "include_authorized_operations": True}
    ),
    *requests_of(
        "StreamsGroupDescribe", (0,), only={"group_ids": [*GROUPS, MISSING], "include_authorized_operations": True}
    ),
    *requests_of("ListGroups", (0, 4, 5), only={}),
    *requests_of("DeleteGroups", (0, 2), only={"groups_names": [*DOOMED, MISSING]}),
    *_for_groups("OffsetCommit", (2, 7, 9, 10), _commit),
    *_for_groups("OffsetFetch", (1, 5, 7), _fetch_offsets),
    *(
        request
        for group in GROUPS
        for request in requests_of(
            "OffsetFetch", (2, 7), **{f"of_all_topics_of_{group}": {"group_id": group, "topics": None}}
        )
    ),
    *requests_of(
        "OffsetFetch",
        (8, 9, 10),
        of_groups=_fetch_offsets_of(_identified(partition_indexes=[0])),
        of_all_topics=_fetch_offsets_of(None),
    ),
    *_for_groups(
        "OffsetDelete",
        (0,),
        lambda group: {"group_id": group, "topics": _topics(partitions=[{"partition_index": MISSING_PARTITION}])},
    ),
    *requests_of(
        "DescribeShareGroupOffsets",
        (0, 1),
        only={
            "groups": [
                {"group_id": group, "topics": _topics((OPEN, CLOSED), "topic_name", partitions=[0])} for group in GROUPS
            ]
        },
    ),
    *_for_groups(
        "AlterShareGroupOffsets",
        (0,),
        lambda group: {
            "group_id": group,
            "topics": _topics(NAMES, "topic_name", partitions=[{"partition_index": 0, "start_offset": 0}]),
        },
    ),
    *_for_groups(
        "DeleteShareGroupOffsets", (0,), lambda group: {"group_id": group, "topics": _topics(NAMES, "topic_name")}
    ),
]
_OF_TRANSACTIONS: list[Request] = [
    *requests_of("InitProducerId", (0, 4, 5), only={"transactional_id": None, "transaction_timeout_ms": 1000}),
    *_for_groups(
        "InitProducerId",
        (0, 4, 5),
        lambda name: {"transactional_id": name, "transaction_timeout_ms": TRANSACTION_TIMEOUT_MS},
    ),
    *_for_groups("AddPartitionsToTxn", (0, 3), _add_partitions),
    *requests_of(
        "AddPartitionsToTxn",
        (4, 5),
        only={"transactions": [_in_transaction(name, topics=_topics(partitions=[0])) for name in GROUPS]},
    ),
    *(
        request
        for transactional_id, group in _PAIRS
        for request in (
            *requests_of(
                "AddOffsetsToTxn",
                (0, 4),
                **{f"of_{transactional_id}_and_{group}": _in_transaction(transactional_id, group_id=group)},
            ),
            *requests_of(
                "TxnOffsetCommit",
                (0, 3, 5),
                **{f"of_{transactional_id}_and_{group}": _commit_in_transaction(transactional_id, group)},
            ),
        )
    ),
    *_for_groups("EndTxn", (0, 4, 5), _in_transaction),
    *requests_of("WriteTxnMarkers", (1, 2), only={"markers": [_MARKER]}),
    *requests_of("DescribeTransactions", (0,), only={"transactional_ids": list(NAMES)}),
    *requests_of("ListTransactions", (0, 1, 2), only={}),
]
REQUESTS: list[Request] = [*_OF_MEMBERS, *_OF_GROUPS, *_OF_TRANSACTIONS]
