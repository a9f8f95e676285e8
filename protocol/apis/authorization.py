"""What an API demands of its client. Source: KafkaApis and ControllerApis, Kafka 4.3.0."""

from __future__ import annotations

from typing import NamedTuple

from ..acl_types import AclOperation, ResourceType

# The message of an error of authorization: Kafka's text of the error code; a sentence that names the request.
KAFKAS_TEXT = "Kafka's text"
NAMED_REQUEST = "the request"


class Need(NamedTuple):
    """An operation on the resource that a field of the request names."""

    operation: AclOperation
    resource_type: ResourceType
    field: str


class ClusterNeed(NamedTuple):
    """One of these operations on the cluster."""

    operations: tuple[AclOperation, ...]


READ_GROUP = Need(AclOperation.READ, ResourceType.GROUP, "group_id")
DELETE_GROUP = Need(AclOperation.DELETE, ResourceType.GROUP, "group_id")
WRITE_TRANSACTION = Need(AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, "transactional_id")


class Authorization(NamedTuple):
    """What a request demands of its client.

    whole: of the request as a whole, in Kafka's order. has_own_rule: there is more, in
    broker.requests.authorization_rules. entries: on each entry of the API's EntryList. configs: on each resource whose
    configs are named. topics: on each topic; or_on_cluster allows every topic.
    is_handled_without_topics: the handler checks the group or session before the topics, so even without any.
    whole_text, part_text: the message of the error of the whole request, or of entries and topics; "" where it has none
    of its own. entries_have_text: whether the entries have it too.
    is_checked_by_handler: the handler checks what it finds. is_open: every client may send it.
    """

    whole: tuple[Need | ClusterNeed, ...] = ()
    has_own_rule: bool = False
    entries: tuple[AclOperation, ResourceType] | None = None
    configs: AclOperation | None = None
    topics: AclOperation | None = None
    or_on_cluster: AclOperation | None = None
    is_handled_without_topics: bool = False
    whole_text: str = ""
    part_text: str = ""
    entries_have_text: bool = True
    is_checked_by_handler: bool = False
    is_open: bool = False

    @property
    def is_checked_before(self) -> bool:
        """Whether the request is checked before its handler sees it."""
        return not self.is_checked_by_handler and not self.is_open


def needs_cluster(*operations: AclOperation, text: str = "") -> Authorization:
    """Return the demand of one of the operations on the cluster. text: as whole_text."""
    return Authorization(whole=(ClusterNeed(operations),), whole_text=text)


# The handler checks each topic, batch, group or transaction, or who the client is.
CHECKED_BY_HANDLER = Authorization(is_checked_by_handler=True)
# Before it is known who the client is, or every request is refused.
OPEN = Authorization(is_open=True)
