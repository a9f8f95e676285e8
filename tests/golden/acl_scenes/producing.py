"""Produce and the producer ids of idempotent producers."""

from ..acl_recorder import AclCase, Scene, each
from ..acls import Acls, on_topic
from ..failover.requests import producing, records

_TOPIC_ACLS: dict[str, Acls] = {
    "no ACL": (),
    "DESCRIBE": on_topic("topic", "DESCRIBE"),
    "READ": on_topic("topic", "READ"),
    "WRITE": on_topic("topic", "WRITE"),
}


def _produce(scene: Scene) -> None:
    scene.send(9, producing(scene.topic("topic"), records()))


CASES: list[AclCase] = [
    *each("Produce v9", _produce, _TOPIC_ACLS),
]
