"""Produce, and InitProducerId of idempotent and transactional producers."""

from fauxka.protocol.messages.init_producer_id import InitProducerIdRequest

from ...messages import replaced
from ..acl_brokers import PERMISSIVE
from ..acl_recorder import AclCase, each
from ..acl_scene import Scene
from ..acls import Acls, on_cluster, on_topic, on_transactional_id
from ..failover.coordinator_requests import TRANSACTION_TIMEOUT_MS, initialising
from ..failover.requests import PRODUCE_BY_ID, in_transaction, producing, records
from .several import joined

# A producer id that no broker has given; an idempotent batch with sequence 0 may have any.
PRODUCER = (4711, 0, 0)
TOPIC_ACLS: dict[str, Acls] = {
    "no ACL": (),
    "DESCRIBE": on_topic("topic", "DESCRIBE"),
    "READ": on_topic("topic", "READ"),
    "WRITE": on_topic("topic", "WRITE"),
}


def _produce(scene: Scene) -> None:
    scene.send(9, producing(scene.topic("topic"), records()))


def _produce_by_id(scene: Scene) -> None:
    scene.send(PRODUCE_BY_ID, producing(scene.topic("topic"), records()))


def _produce_to_four(version: int, scene: Scene) -> None:
    topics = [scene.topic("topic"), scene.topic("other"), scene.missing_topic("missing")]
    if version < PRODUCE_BY_ID:
        topics.append(scene.missing_topic("other-missing"))
    scene.send(version, joined("topic_data", *(producing(topic, records()) for topic in topics)))


def _produce_without_acks(scene: Scene) -> None:
    scene.send_unanswered(9, producing(scene.topic("topic"), records(), acks=0))


def _produce_with_one_ack(scene: Scene) -> None:
    scene.send(9, producing(scene.topic("topic"), records(), acks=1))


def _produce_without_records(scene: Scene) -> None:
    scene.send(9, producing(scene.topic("topic"), b""))


def _produce_with_wrong_acks(scene: Scene) -> None:
    scene.send(9, producing(scene.topic("topic"), records(), acks=2))


def _produce_idempotently(scene: Scene) -> None:
    scene.send(9, producing(scene.topic("topic"), records(producer=PRODUCER)))


def _produce_in_transaction(scene: Scene) -> None:
    topics = [scene.topic("topic"), scene.topic("other")]
    producer = scene.producer("transaction", *topics)
    batch = in_transaction(1, (producer.producer_id, producer.epoch, 0))
    request = joined("topic_data", *(producing(topic, batch) for topic in topics))
    scene.send(11, replaced(request, transactional_id=producer.transactional_id))


def _init_transactional(scene: Scene) -> None:
    scene.send(4, initialising(scene.name("transaction")))


def _init_idempotent(scene: Scene) -> None:
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=TRANSACTION_TIMEOUT_MS)
    scene.send(4, request)


def _deny_write(name: str, pattern: str = "LITERAL") -> Acls:
    return on_topic(name, "WRITE", permission="DENY", pattern=pattern)


_TWO_TOPICS: dict[str, Acls] = {
    "no ACL": (),
    "WRITE for one that exists and one that does not": on_topic("topic", "WRITE") + on_topic("missing", "WRITE"),
    "WRITE for all": on_topic("*", "WRITE"),
}
_TRANSACTION = on_transactional_id("transaction", "WRITE")
_TRANSACTIONAL: dict[str, Acls] = {
    "no ACL": (),
    "WRITE of the topics": on_topic("*", "WRITE"),
    "DESCRIBE of the transactional id": on_topic("*", "WRITE") + on_transactional_id("transaction", "DESCRIBE"),
    "WRITE of the transactional id": _TRANSACTION,
    "WRITE of the transactional id and one topic": _TRANSACTION + on_topic("topic", "WRITE"),
    "WRITE of the transactional id and the topics": _TRANSACTION + on_topic("*", "WRITE"),
}
# The topic of an ACL need not exist.
_IDEMPOTENT: dict[str, Acls] = {
    "no ACL": (),
    "IDEMPOTENT_WRITE": on_cluster("IDEMPOTENT_WRITE"),
    "WRITE of the cluster": on_cluster("WRITE"),
    "ALL of the cluster": on_cluster("ALL"),
    "CLUSTER_ACTION": on_cluster("CLUSTER_ACTION"),
    "deny IDEMPOTENT_WRITE": on_topic("topic", "WRITE") + on_cluster("IDEMPOTENT_WRITE", permission="DENY"),
    "READ of a topic": on_topic("topic", "READ"),
    "WRITE of a topic": on_topic("topic", "WRITE"),
    "ALL of a topic": on_topic("topic", "ALL"),
    "WRITE of a topic to everyone": on_topic("topic", "WRITE", principal="User:*"),
    "WRITE of a topic to bob": on_topic("topic", "WRITE", principal="User:bob"),
    "WRITE of a topic from 127.0.0.1": on_topic("topic", "WRITE", host="127.0.0.1"),
    "WRITE of a topic from 127.0.0.2": on_topic("topic", "WRITE", host="127.0.0.2"),
    "WRITE of a prefix": on_topic("to", "WRITE", pattern="PREFIXED"),
    "WRITE of every topic": on_topic("*", "WRITE"),
    "WRITE of a transactional id": _TRANSACTION,
    "WRITE of a topic, which is denied": on_topic("topic", "WRITE") + _deny_write("topic"),
    "WRITE of a topic, every topic denied": on_topic("topic", "WRITE") + _deny_write("*"),
    "WRITE of a topic, its prefix denied": on_topic("topic", "WRITE") + _deny_write("to", "PREFIXED"),
    "WRITE of a topic, another one denied": on_topic("topic", "WRITE") + _deny_write("other"),
    "WRITE of a topic, denied to everyone": on_topic("topic", "WRITE")
    + on_topic("topic", "WRITE", permission="DENY", principal="User:*"),
    "WRITE of a topic, ALL denied": on_topic("topic", "WRITE") + on_topic("topic", "ALL", permission="DENY"),
    "WRITE of a topic, READ denied": on_topic("topic", "WRITE") + on_topic("topic", "READ", permission="DENY"),
    "WRITE of a prefix, which is denied": on_topic("to", "WRITE", pattern="PREFIXED") + _deny_write("to", "PREFIXED"),
    "WRITE of a prefix, a shorter one denied": on_topic("to", "WRITE", pattern="PREFIXED")
    + _deny_write("t", "PREFIXED"),
    "WRITE of a prefix, a longer one denied": on_topic("to", "WRITE", pattern="PREFIXED")
    + _deny_write("topic", "PREFIXED"),
    "WRITE of a prefix, a literal denied": on_topic("to", "WRITE", pattern="PREFIXED") + _deny_write("to"),
    "WRITE of every topic, a prefix denied": on_topic("*", "WRITE") + _deny_write("to", "PREFIXED"),
    "WRITE of every topic, a topic denied": on_topic("*", "WRITE") + _deny_write("topic"),
    "WRITE of two topics, one denied": on_topic("topic", "WRITE") + on_topic("other", "WRITE") + _deny_write("topic"),
}
_BOB_EVERY_TOPIC = on_topic("*", "WRITE", principal="User:bob")
_BOB_CLUSTER = on_cluster("IDEMPOTENT_WRITE", principal="User:bob")
_PERMISSIVE: dict[str, Acls] = {
    "no ACL": (),
    "WRITE of a topic to bob": on_topic("topic", "WRITE", principal="User:bob"),
    "IDEMPOTENT_WRITE to bob": _BOB_CLUSTER,
    "IDEMPOTENT_WRITE and WRITE of a topic to bob": _BOB_CLUSTER + on_topic("topic", "WRITE", principal="User:bob"),
    "IDEMPOTENT_WRITE and WRITE of every topic to bob": _BOB_CLUSTER + _BOB_EVERY_TOPIC,
    "IDEMPOTENT_WRITE to bob, every topic denied": _BOB_CLUSTER + _deny_write("*"),
    "IDEMPOTENT_WRITE to bob, a topic denied": _BOB_CLUSTER + _deny_write("topic"),
    "IDEMPOTENT_WRITE to bob, a prefix denied": _BOB_CLUSTER + _deny_write("to", "PREFIXED"),
}

CASES: list[AclCase] = [
    *each("Produce v9", _produce, TOPIC_ACLS),
    *each("Produce v13", _produce_by_id, TOPIC_ACLS),
    *each("Produce v9 to four topics", lambda scene: _produce_to_four(9, scene), _TWO_TOPICS),
    *each("Produce v13 to three topics", lambda scene: _produce_to_four(13, scene), _TWO_TOPICS),
    *each("Produce v9 with acks 0", _produce_without_acks, {"no ACL": (), "WRITE": on_topic("topic", "WRITE")}),
    *each("Produce v9 with acks 1", _produce_with_one_ack, {"no ACL": (), "WRITE": on_topic("topic", "WRITE")}),
    *each("Produce v9 with acks 2", _produce_with_wrong_acks, {"no ACL": (), "WRITE": on_topic("topic", "WRITE")}),
    *each("Produce v9 without records", _produce_without_records, {"no ACL": (), "WRITE": on_topic("topic", "WRITE")}),
    *each("Produce v9 of an idempotent producer", _produce_idempotently, TOPIC_ACLS),
    *each("Produce v11 in a transaction", _produce_in_transaction, _TRANSACTIONAL),
    *each(
        "InitProducerId v4 of a transactional producer",
        _init_transactional,
        {"no ACL": (), "DESCRIBE": on_transactional_id("transaction", "DESCRIBE"), "WRITE": _TRANSACTION},
    ),
    *each("InitProducerId v4 of an idempotent producer", _init_idempotent, _IDEMPOTENT),
    *each("InitProducerId v4 with allow.everyone.if.no.acl.found", _init_idempotent, _PERMISSIVE, PERMISSIVE),
]
