"""The requests of transactional producers, and those about their transactions."""

from collections.abc import Callable

from fauxka.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTransaction
from fauxka.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

from ...messages import replaced
from ..acl_recorder import AclCase, each
from ..acl_scene import Scene
from ..acls import Acls, on_cluster, on_group, on_topic, on_transactional_id
from ..failover.coordinator_requests import describing_transactions, listing_transactions
from .several import joined

_WRITE = on_transactional_id("transaction", "WRITE")
_DESCRIBE = on_transactional_id("transaction", "DESCRIBE")
_READ_GROUP = on_group("group", "READ")
_TRANSACTION_ACLS: dict[str, Acls] = {"no ACL": (), "DESCRIBE": _DESCRIBE, "WRITE": _WRITE}


def _add_partitions(scene: Scene) -> None:
    topics = [scene.topic("topic"), scene.topic("other"), scene.missing_topic("missing")]
    producer = scene.producer("transaction")
    scene.send(3, joined("v3_and_below_topics", *(producer.adding(topic) for topic in topics)))


def _add_present_partitions(scene: Scene) -> None:
    topics = [scene.topic("topic"), scene.topic("other")]
    producer = scene.producer("transaction")
    scene.send(3, joined("v3_and_below_topics", *(producer.adding(topic) for topic in topics)))


def _add_partitions_in_batches(scene: Scene) -> None:
    topic = scene.topic("topic")
    producer = scene.producer("transaction")
    transaction = AddPartitionsToTxnTransaction(
        transactional_id=producer.transactional_id,
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        topics=producer.adding(topic).v3_and_below_topics,
    )
    for is_verifying in (True, False):
        transactions = [replaced(transaction, verify_only=is_verifying)]
        scene.send(5, AddPartitionsToTxnRequest(transactions=transactions))


def _add_offsets(scene: Scene) -> None:
    producer = scene.producer("transaction")
    scene.send(3, producer.adding_offsets(scene.name("group")))


def _end(version: int) -> Callable[[Scene], None]:
    def steps(scene: Scene) -> None:
        producer = scene.producer("transaction", scene.topic("topic"))
        scene.send(version, producer.ending(committed=True))

    return steps


def _commit_offsets(version: int) -> Callable[[Scene], None]:
    def steps(scene: Scene) -> None:
        topics = [scene.topic("topic"), scene.topic("other"), scene.missing_topic("missing")]
        producer = scene.producer("transaction")
        scene.add_offsets(producer, "group")
        requests = (producer.committing(scene.name("group"), topic, 1) for topic in topics)
        scene.send(version, joined("topics", *requests))

    return steps


def _write_markers(scene: Scene) -> None:
    producer = scene.producer("transaction", scene.topic("topic"))
    topic = WritableTxnMarkerTopic(name=scene.name("topic"), partition_indexes=[0])
    marker = WritableTxnMarker(
        producer_id=producer.producer_id, producer_epoch=producer.epoch, transaction_result=False, topics=[topic]
    )
    scene.send(1, WriteTxnMarkersRequest(markers=[marker]))


def _describe(scene: Scene) -> None:
    topics = [scene.topic("topic"), scene.topic("other")]
    scene.producer("transaction", *topics)
    scene.producer("transaction2", topics[0])
    names = ("transaction", "transaction2", "missing")
    scene.send(0, describing_transactions(*(scene.name(name) for name in names)))


def _list(scene: Scene) -> None:
    topic = scene.topic("topic")
    scene.producer("transaction", topic)
    scene.producer("transaction2", topic)
    scene.send(1, listing_transactions())


_OFFSETS: dict[str, Acls] = {
    "no ACL": (),
    "READ of the group and the topics": _READ_GROUP + on_topic("*", "READ"),
    "WRITE of the transactional id": _WRITE,
    "WRITE of the transactional id, READ of the topics": _WRITE + on_topic("*", "READ"),
    "WRITE of the transactional id, READ of the group": _WRITE + _READ_GROUP,
    "WRITE of the transactional id, READ of the group and one topic": _WRITE + _READ_GROUP + on_topic("topic", "READ"),
    "WRITE of the transactional id, DESCRIBE of the group, READ of the topics": _WRITE
    + on_group("group", "DESCRIBE")
    + on_topic("*", "READ"),
    "WRITE of the transactional id, READ of the group and the topics": _WRITE + _READ_GROUP + on_topic("*", "READ"),
}

CASES: list[AclCase] = [
    *each(
        "AddPartitionsToTxn v3",
        _add_partitions,
        {
            "no ACL": (),
            "WRITE of the topics": on_topic("*", "WRITE"),
            "WRITE of the transactional id": _WRITE,
            "WRITE of the transactional id and one topic": _WRITE + on_topic("topic", "WRITE"),
            "WRITE of the transactional id and the topics": _WRITE + on_topic("*", "WRITE"),
            "WRITE of the transactional id and those that exist": _WRITE
            + on_topic("topic", "WRITE")
            + on_topic("other", "WRITE"),
            "WRITE of the transactional id, READ of the topics": _WRITE + on_topic("*", "READ"),
        },
    ),
    *each(
        "AddPartitionsToTxn v3 of topics that exist",
        _add_present_partitions,
        {
            "WRITE of the transactional id and one topic": _WRITE + on_topic("topic", "WRITE"),
            "WRITE of the transactional id and the topics": _WRITE + on_topic("*", "WRITE"),
        },
    ),
    *each(
        "AddPartitionsToTxn v5",
        _add_partitions_in_batches,
        {
            "no ACL": (),
            "WRITE of the transactional id and the topic": _WRITE + on_topic("topic", "WRITE"),
            "CLUSTER_ACTION": on_cluster("CLUSTER_ACTION"),
        },
    ),
    *each(
        "AddOffsetsToTxn v3",
        _add_offsets,
        {
            "no ACL": (),
            "WRITE": _WRITE,
            "READ of the group": _READ_GROUP,
            "WRITE, DESCRIBE of the group": _WRITE + on_group("group", "DESCRIBE"),
            "WRITE, READ of the group": _WRITE + _READ_GROUP,
        },
    ),
    *each("EndTxn v3", _end(3), _TRANSACTION_ACLS),
    *each("EndTxn v5", _end(5), _TRANSACTION_ACLS),
    *each("TxnOffsetCommit v3", _commit_offsets(3), _OFFSETS),
    *each(
        "WriteTxnMarkers v1",
        _write_markers,
        {
            "no ACL": (),
            "WRITE": _WRITE + on_topic("topic", "WRITE"),
            "ALTER of the cluster": on_cluster("ALTER"),
            "CLUSTER_ACTION": on_cluster("CLUSTER_ACTION"),
        },
    ),
    *each(
        "DescribeTransactions v0",
        _describe,
        {
            "no ACL": (),
            "DESCRIBE": _DESCRIBE,
            "DESCRIBE, DESCRIBE of one topic": _DESCRIBE + on_topic("topic", "DESCRIBE"),
            "WRITE, READ of both topics": _WRITE + on_topic("*", "READ"),
            "DESCRIBE of all, DESCRIBE of both topics": on_transactional_id("*", "DESCRIBE")
            + on_topic("*", "DESCRIBE"),
        },
    ),
    *each("ListTransactions v1", _list, _TRANSACTION_ACLS | {"DESCRIBE of the cluster": on_cluster("DESCRIBE")}),
]
