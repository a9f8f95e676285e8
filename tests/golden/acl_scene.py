"""What the steps of a case of capture_acls work with: a set-up by a super user, and requests of users."""

from __future__ import annotations

import json
import re

from fauxka.protocol.client_requests import RequestMessage
from fauxka.protocol.message import Message
from fauxka.protocol.messages import (
    add_offsets_to_txn,
    add_partitions_to_txn,
    consumer_group_heartbeat,
    describe_quorum,
    init_producer_id,
    join_group,
    list_groups,
    offset_commit,
    sasl_authenticate,
    sasl_handshake,
    share_group_heartbeat,
    sync_group,
)
from fauxka.protocol.messages.api_versions import ApiVersionsRequest

from ..messages import replaced
from ..wire.message_client import MessageClient
from ..wire.wire_connection import ConnectionClosedError
from .acl_brokers import ALICE, PASSWORDS
from .capture_normal_form import Json
from .consumer_group_recorder import ConsumerGroupNormalForm, ConsumerGroupRecorder
from .failover.coordinator_requests import (
    Producer,
    committing,
    consuming,
    initialising,
    joining,
    sharing,
    syncing,
)
from .failover.requests import Topic, records
from .sasl_client import plain

MEMBER_ID_REQUIRED = 79
# A topic id that no topic has.
MISSING_ID = bytes(range(16))
# Member ids of the super user.
SHARE_MEMBER = "AAAAAAAAAAAAAAAAAAAAAQ"
CONSUMER_MEMBER = "member-of-the-set-up"
# A group, a topic id and a partition, which need not exist.
SHARE_PARTITION = "group:AAAAAAAAAAAAAAAAAAAAAQ:0"
PRODUCER_IDS = {"producer_id", "v3_and_below_producer_id", "ongoing_txn_producer_id"}
# An error message with the broker's own view of the request.
REQUEST = re.compile(r"^(Request ).*( is not authorized\.?| needs \w+ permission\.)$")
# Entries of these lists stand for the entry of the request at the same place; all others are sorted.
IN_ORDER = {"CreateAcls": "results", "DeleteAcls": "filter_results"}


class AclNormalForm(ConsumerGroupNormalForm):
    """The normal form of one case: without the prefix of its names, with names for producer ids, and its own groups."""

    def __init__(self, address: str, prefix: str) -> None:
        """address: "host:port" of the captured listener."""
        super().__init__(address)
        self._prefix = prefix
        self._producers: dict[int, str] = {}

    def name_topic_id(self, topic_id: bytes, name: str) -> None:
        """Write that topic id as "id of NAME" from now on."""
        super().name_topic_id(topic_id, name.removeprefix(self._prefix))

    def _text(self, value: str, name: str) -> Json:
        text = super()._text(value, name)
        assert isinstance(text, str)
        return REQUEST.sub(r"\1REQUEST\2", text.replace(self._prefix, ""))

    def _message(self, message: Message) -> Json:
        if isinstance(message, list_groups.ListGroupsResponse):
            # The broker has the groups of other cases too.
            message = replaced(message, groups=[group for group in message.groups if self._is_own(group.group_id)])
        answer = super()._message(message)
        if isinstance(message, describe_quorum.Listener) and isinstance(answer, dict):
            # The port of the controller.
            answer["port"] = "PORT"
        return answer

    def _is_own(self, name: str) -> bool:
        return name.startswith(self._prefix)

    def _number(self, value: int, name: str) -> Json:
        if name in PRODUCER_IDS and value >= 0:
            return self._producers.setdefault(value, f"producer {len(self._producers) + 1}")
        if name == "port" and value not in (-1, self._port):
            return "PORT_OF_ANOTHER_LISTENER"
        return super()._number(value, name)


class Scene:
    """What the steps of a case work with. A method without a user acts as a super user."""

    def __init__(self, admin: ConsumerGroupRecorder, address: str, prefix: str) -> None:
        """admin: its normal form is that of the case. address: of the listener for users."""
        self.admin = admin
        self.set_up: list[Json] = []
        self.steps: list[Json] = []
        self._address = address
        self._prefix = prefix
        self._connections: dict[str, MessageClient] = {}

    def name(self, name: str) -> str:
        """Return the name on the broker."""
        return self._prefix + name

    # -- the set-up

    def topic(self, name: str, partition_count: int = 1, record_count: int = 0, **configs: str) -> Topic:
        """Create a topic, with so many records in partition 0. Underscores in config names stand for dots."""
        # The time of the records is long ago.
        kept = {"retention_ms": "-1"} if record_count else {}
        topic_id = self.admin.create_topic(self.name(name), partition_count, **kept, **configs)
        # A new topic is in the responses to Metadata before the group coordinator has it.
        self.admin.settle()
        if record_count:
            self.admin.produce(self.name(name), *(records() for _ in range(record_count)))
        of = f"topic {name} with {partition_count} partitions and {record_count} records"
        self.set_up.append(f"{of}, {configs}" if configs else of)
        return Topic(self.name(name), topic_id, [[1]] * partition_count)

    def missing_topic(self, name: str) -> Topic:
        """Return a topic that does not exist."""
        return Topic(self.name(name), MISSING_ID, [])

    def group(self, name: str, *topics: Topic) -> str:
        """Create a group without members that has committed offset 1 of partition 0 of each topic."""
        for topic in topics:
            response = self.admin.call(committing(self.name(name), topic, 1), 9, offset_commit.OffsetCommitResponse)
            assert response.topics[0].partitions[0].error_code == 0, response
        self._note(f"group {name} with offset 1 of", *topics)
        return self.name(name)

    def classic_member(self, group: str) -> tuple[str, int]:
        """Make the super user the only member of a classic group, and return member id and generation."""
        self._note(f"group {group} with a classic member")
        asked = self.admin.call(joining(self.name(group)), 5, join_group.JoinGroupResponse)
        assert asked.error_code == MEMBER_ID_REQUIRED, asked
        joined = self.admin.call(joining(self.name(group), asked.member_id), 5, join_group.JoinGroupResponse)
        assert joined.error_code == 0, joined
        synced = self.admin.call(
            syncing(self.name(group), joined.member_id, joined.generation_id), 5, sync_group.SyncGroupResponse
        )
        assert synced.error_code == 0, synced
        return joined.member_id, joined.generation_id

    def consumer_member(self, group: str, topic: Topic) -> int:
        """Make the super user CONSUMER_MEMBER of a group of the consumer protocol, and return its epoch."""
        self._note(f"group {group} with a member of the consumer protocol, subscribed to", topic)
        response = self.admin.call(
            consuming(self.name(group), CONSUMER_MEMBER, 0, topic),
            1,
            consumer_group_heartbeat.ConsumerGroupHeartbeatResponse,
        )
        assert response.error_code == 0, response
        return response.member_epoch

    def share_member(self, group: str, *topics: Topic) -> None:
        """Make the super user SHARE_MEMBER of a share group, and return when it has partitions."""
        self._note(f"group {group} with a member of the share protocol, subscribed to", *topics)
        request = sharing(self.name(group), SHARE_MEMBER, 0, topics[0])
        request = replaced(request, subscribed_topic_names=[topic.name for topic in topics])

        def is_assigned() -> bool:
            nonlocal request
            response = self.admin.call(request, 1, share_group_heartbeat.ShareGroupHeartbeatResponse)
            assert response.error_code == 0, response
            request = sharing(self.name(group), SHARE_MEMBER, response.member_epoch, topics[0])
            return response.assignment is not None and len(response.assignment.topic_partitions) == len(topics)

        self.admin.expect_that(is_assigned, f"an assignment of {group}")

    def producer(self, transactional_id: str, *topics: Topic) -> Producer:
        """Initialise a transactional producer. topics: their partition 0 is added to its transaction."""
        self._note(f"transactional id {transactional_id} with a transaction of", *topics)
        response = self.admin.call(
            initialising(self.name(transactional_id)), 4, init_producer_id.InitProducerIdResponse
        )
        assert response.error_code == 0, response
        producer = Producer(self.name(transactional_id), response.producer_id, response.producer_epoch)
        for topic in topics:
            added = self.admin.call(producer.adding(topic), 3, add_partitions_to_txn.AddPartitionsToTxnResponse)
            assert added.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code == 0, added
        return producer

    def group_config(self, group: str, **configs: str) -> None:
        """Set configs of a group. Underscores in their names stand for dots."""
        self._note(f"group {group} with {configs}")
        self.admin.set_group_config(self.name(group), **configs)

    def add_offsets(self, producer: Producer, group: str) -> None:
        """Add the offsets of a group to the producer's transaction."""
        self._note(f"offsets of group {group} in the transaction")
        response = self.admin.call(
            producer.adding_offsets(self.name(group)), 3, add_offsets_to_txn.AddOffsetsToTxnResponse
        )
        assert response.error_code == 0, response

    # -- the requests of users

    def send(self, version: int, request: RequestMessage, user: str = ALICE) -> object | None:
        """Send a request as a user, and write the answer. Returns None if there was none."""
        response: object | None = None
        try:
            response = self._connection(user).call(request, version)
            self.admin.normal_form.learn_topic_ids(response)
            answer = self.admin.normal_form.of(response)
        except ConnectionClosedError:
            answer = self._lost(user, "CONNECTION_CLOSED")
        except TimeoutError:
            answer = self._lost(user, "NO_RESPONSE")
        self._add(version, request, user, answer)
        return response

    def send_unanswered(self, version: int, request: RequestMessage, user: str = ALICE) -> None:
        """Send a request that has no response, and write what became of the connection."""
        connection = self._connection(user)
        connection.send(request, version)
        try:
            connection.call(ApiVersionsRequest(), 0)
            answer: Json = "CONNECTION_OPEN"
        except ConnectionClosedError:
            answer = self._lost(user, "CONNECTION_CLOSED")
        self._add(version, request, user, answer)

    def close(self) -> None:
        """Close the connections."""
        for connection in self._connections.values():
            connection.close()

    def _add(self, version: int, request: RequestMessage, user: str, answer: Json) -> None:
        api = type(request).__name__.removesuffix("Request")
        sent = self.admin.normal_form.of(request)
        step: dict[str, Json] = {} if user == ALICE else {"user": user}
        step |= {"api": api, "version": version, "sent": sent, "answer": sorted_entries(answer, IN_ORDER.get(api))}
        self.steps.append(step)

    def _note(self, text: str, *topics: Topic) -> None:
        names = ", ".join(topic.name.removeprefix(self._prefix) for topic in topics)
        self.set_up.append(f"{text} {names or 'nothing'}" if text.endswith(" of") else f"{text} {names}".strip())

    def _connection(self, user: str) -> MessageClient:
        if user not in self._connections:
            self._connections[user] = logged_in(self._address, user)
        return self._connections[user]

    def _lost(self, user: str, answer: str) -> str:
        self._connections.pop(user).close()
        return answer


def logged_in(address: str, user: str, host: str = "127.0.0.1") -> MessageClient:
    """Return a connection of a user on a host to a listener with SASL. The client id is the user's name."""
    connection = MessageClient(address, user, source=host)
    shaken = connection.call(
        sasl_handshake.SaslHandshakeRequest(mechanism="PLAIN"), 1, sasl_handshake.SaslHandshakeResponse
    )
    assert shaken.error_code == 0, shaken
    request = sasl_authenticate.SaslAuthenticateRequest(auth_bytes=plain(user, PASSWORDS[user]))
    response = connection.call(request, 2, sasl_authenticate.SaslAuthenticateResponse)
    assert response.error_code == 0, response
    return connection


def sorted_entries(value: Json, kept: str | None) -> Json:
    """Return an answer with the objects of each list sorted by their text, except in the field `kept`."""
    if isinstance(value, dict):
        return {
            name: [sorted_entries(entry, kept) for entry in field]
            if name == kept and isinstance(field, list)
            else sorted_entries(field, kept)
            for name, field in value.items()
        }
    if not isinstance(value, list):
        return value
    entries = [sorted_entries(entry, kept) for entry in value]
    are_objects = all(isinstance(entry, dict) for entry in entries)
    return sorted(entries, key=lambda entry: json.dumps(entry, sort_keys=True)) if are_objects else entries
