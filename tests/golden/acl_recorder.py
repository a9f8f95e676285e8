"""Runs the cases of capture_acls against one broker, and makes a line of each.

A case has ACLs, which a super user creates before and deletes after it, and steps: a set-up by the super user, and
requests of users. Topics, groups and the like have a name of their own in each case, the case's prefix and the name
that the case calls them; a line has it without the prefix.
"""

from __future__ import annotations

import io
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fauxka.protocol.messages import (
    add_partitions_to_txn,
    consumer_group_heartbeat,
    create_acls,
    delete_acls,
    describe_acls,
    init_producer_id,
    join_group,
    offset_commit,
    sasl_authenticate,
    sasl_handshake,
    share_group_heartbeat,
    sync_group,
)
from fauxka.protocol.messages.api_versions import ApiVersionsRequest

from ..messages import replaced
from .acl_brokers import ALICE, PASSWORDS, STRICT
from .acls import Acls, acls_of, creating_acls, deleting_all_acls, describing_all_acls
from .capture_connection import Connection, ConnectionClosedError, Request
from .capture_normal_form import Json
from .consumer_group_recorder import ConsumerGroupNormalForm, ConsumerGroupRecorder
from .failover.coordinator_requests import (
    GROUP_KEY,
    SHARE_KEY,
    TRANSACTION_KEY,
    Producer,
    committing,
    consuming,
    initialising,
    joining,
    sharing,
    syncing,
)
from .failover.requests import Topic, records
from .sasl_client import Addresses, plain

ACLS_SECONDS_MAX = 30.0
POLL_SECONDS = 0.005
MEMBER_ID_REQUIRED = 79
# A topic id and a member id that nothing has.
MISSING_ID = bytes(range(16))
SHARE_MEMBER = "AAAAAAAAAAAAAAAAAAAAAQ"
# A group, a topic id and a partition, which need not exist.
SHARE_PARTITION = "group:AAAAAAAAAAAAAAAAAAAAAQ:0"
CONSUMER_MEMBER = "member-of-the-set-up"
PRODUCER_IDS = {"producer_id", "v3_and_below_producer_id", "ongoing_txn_producer_id"}
# An error message with the broker's own view of the request.
REQUEST = re.compile(r"^(Request ).*( is not authorized\.?| needs \w+ permission\.)$")
# Entries of these lists stand for the entry of the request at the same place; all others are sorted.
IN_ORDER = {"CreateAcls": "results", "DeleteAcls": "filter_results"}


@dataclass(frozen=True)
class AclCase:
    """One case. broker: the one of acl_brokers that it is for."""

    name: str
    acls: Acls
    steps: Callable[[Scene], None]
    broker: str = STRICT


def each(
    title: str, steps: Callable[[Scene], None], acls: Mapping[str, Acls], broker: str = STRICT
) -> list[AclCase]:
    """Return a case for each set of ACLs, all with the same steps."""
    return [AclCase(f"{title}: {name}", entries, steps, broker) for name, entries in acls.items()]


class AclNormalForm(ConsumerGroupNormalForm):
    """The normal form of one case: without the prefix of its names, and with names for producer ids."""

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
        self._connections: dict[str, Connection] = {}

    def name(self, name: str) -> str:
        """Return the name on the broker."""
        return self._prefix + name

    # -- the set-up

    def topic(self, name: str, partition_count: int = 1, record_count: int = 0, **configs: str) -> Topic:
        """Create a topic, with so many records in partition 0. Underscores in config names stand for dots."""
        # The time of the records is long ago.
        kept = {"retention_ms": "-1"} if record_count else {}
        topic_id = self.admin.create_topic(self.name(name), partition_count, **kept, **configs)
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
            response = self.admin.call(committing(self.name(name), topic, 1), 9)
            assert isinstance(response, offset_commit.OffsetCommitResponse)
            assert response.topics[0].partitions[0].error_code == 0, response
        self._note(f"group {name} with offset 1 of", *topics)
        return self.name(name)

    def classic_member(self, group: str) -> tuple[str, int]:
        """Make the super user the only member of a classic group, and return member id and generation."""
        self._note(f"group {group} with a classic member")
        asked = self.admin.call(joining(self.name(group)), 5)
        assert isinstance(asked, join_group.JoinGroupResponse)
        assert asked.error_code == MEMBER_ID_REQUIRED, asked
        joined = self.admin.call(joining(self.name(group), asked.member_id), 5)
        assert isinstance(joined, join_group.JoinGroupResponse)
        assert joined.error_code == 0, joined
        synced = self.admin.call(syncing(self.name(group), joined.member_id, joined.generation_id), 5)
        assert isinstance(synced, sync_group.SyncGroupResponse)
        assert synced.error_code == 0, synced
        return joined.member_id, joined.generation_id

    def consumer_member(self, group: str, topic: Topic) -> int:
        """Make the super user CONSUMER_MEMBER of a group of the consumer protocol, and return its epoch."""
        self._note(f"group {group} with a member of the consumer protocol, subscribed to", topic)
        response = self.admin.call(consuming(self.name(group), CONSUMER_MEMBER, 0, topic), 1)
        assert isinstance(response, consumer_group_heartbeat.ConsumerGroupHeartbeatResponse)
        assert response.error_code == 0, response
        return response.member_epoch

    def share_member(self, group: str, *topics: Topic) -> None:
        """Make the super user SHARE_MEMBER of a share group, and return when it has partitions."""
        self._note(f"group {group} with a member of the share protocol, subscribed to", *topics)
        request = sharing(self.name(group), SHARE_MEMBER, 0, topics[0])
        request = replaced(request, subscribed_topic_names=[topic.name for topic in topics])

        def is_assigned() -> bool:
            nonlocal request
            response = self.admin.call(request, 1)
            assert isinstance(response, share_group_heartbeat.ShareGroupHeartbeatResponse)
            assert response.error_code == 0, response
            request = sharing(self.name(group), SHARE_MEMBER, response.member_epoch, topics[0])
            return response.assignment is not None and len(response.assignment.topic_partitions) == len(topics)

        self.admin.expect_that(is_assigned, f"an assignment of {group}")

    def producer(self, transactional_id: str, *topics: Topic) -> Producer:
        """Initialise a transactional producer. topics: those whose partition 0 is added to its transaction."""
        self._note(f"transactional id {transactional_id} with a transaction of", *topics)
        response = self.admin.call(initialising(self.name(transactional_id)), 4)
        assert isinstance(response, init_producer_id.InitProducerIdResponse)
        assert response.error_code == 0, response
        producer = Producer(self.name(transactional_id), response.producer_id, response.producer_epoch)
        for topic in topics:
            added = self.admin.call(producer.adding(topic), 3)
            assert isinstance(added, add_partitions_to_txn.AddPartitionsToTxnResponse)
            assert added.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code == 0, added
        return producer

    def prepare(self, version: int, request: Request) -> object:
        """Send a request as the super user, and write it as part of the set-up."""
        api = type(request).__name__.removesuffix("Request")
        self.set_up.append({"api": api, "version": version, "sent": self.admin.normal_form.of(request)})
        response = self.admin.call(request, version)
        self.admin.settle()
        return response

    # -- the requests of users

    def send(self, version: int, request: Request, user: str = ALICE) -> object | None:
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

    def send_unanswered(self, version: int, request: Request, user: str = ALICE) -> None:
        """Send a request that has no response, and write what became of the connection."""
        connection = self._connection(user)
        connection.start(request, version)
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

    def _add(self, version: int, request: Request, user: str, answer: Json) -> None:
        api = type(request).__name__.removesuffix("Request")
        sent = self.admin.normal_form.of(request)
        step: dict[str, Json] = {} if user == ALICE else {"user": user}
        step |= {"api": api, "version": version, "sent": sent, "answer": _sorted(answer, IN_ORDER.get(api))}
        self.steps.append(step)

    def _note(self, text: str, *topics: Topic) -> None:
        names = ", ".join(topic.name.removeprefix(self._prefix) for topic in topics)
        self.set_up.append(f"{text} {names or 'nothing'}" if text.endswith(" of") else f"{text} {names}".strip())

    def _connection(self, user: str) -> Connection:
        if user not in self._connections:
            self._connections[user] = logged_in(self._address, user)
        return self._connections[user]

    def _lost(self, user: str, answer: str) -> str:
        self._connections.pop(user).close()
        return answer


class AclCapture:
    """Runs cases against one broker."""

    def __init__(self, addresses: Addresses) -> None:
        """Connect as the super user, and wait for the coordinators. addresses: of the listeners of acl_brokers."""
        self._address = addresses["SASL_PLAINTEXT"]
        self._admin = ConsumerGroupRecorder(addresses["PLAINTEXT"], io.StringIO())
        for key_type, key in ((GROUP_KEY, "any"), (TRANSACTION_KEY, "any"), (SHARE_KEY, SHARE_PARTITION)):
            self._admin.expect_coordinator(key_type, key)
        self._admin.expect_loaded()
        self._admin.expect_that(self._gives_producer_ids, "a transaction coordinator that is ready")
        self._admin.settle()

    def run(self, number: int, case: AclCase) -> Json:
        """Return the line of a case. number: no other case of this broker has it."""
        prefix = f"c{number:03}."
        self._admin.normal_form = AclNormalForm(self._address, prefix)
        acls = tuple(acl.in_names_of(prefix) for acl in case.acls)
        scene = Scene(self._admin, self._address, prefix)
        try:
            self._create(acls)
            case.steps(scene)
        finally:
            scene.close()
            self._delete_acls()
        return {
            "case": case.name,
            "broker": case.broker,
            "acls": [
                [acl.resource_type, acl.name, acl.pattern, acl.principal, acl.host, acl.operation, acl.permission]
                for acl in case.acls
            ],
            "set_up": scene.set_up,
            "steps": scene.steps,
        }

    def close(self) -> None:
        """Close the connection."""
        self._admin.connection.close()

    def _gives_producer_ids(self) -> bool:
        response = self._admin.call(initialising("any"), 4)
        assert isinstance(response, init_producer_id.InitProducerIdResponse)
        return response.error_code == 0

    def _create(self, acls: Acls) -> None:
        if acls:
            response = self._admin.call(creating_acls(*acls), 3)
            assert isinstance(response, create_acls.CreateAclsResponse)
            assert not any(result.error_code for result in response.results), response
        self._expect(acls)

    def _delete_acls(self) -> None:
        response = self._admin.call(deleting_all_acls(), 3)
        assert isinstance(response, delete_acls.DeleteAclsResponse)
        assert response.filter_results[0].error_code == 0, response
        self._expect(())

    def _expect(self, acls: Acls) -> None:
        """Return when the broker has applied these ACLs, and no others; the controller has them before."""
        deadline = time.monotonic() + ACLS_SECONDS_MAX
        while self._acls() != set(acls):
            assert time.monotonic() < deadline, f"{self._acls()} in place of {acls}"
            time.sleep(POLL_SECONDS)

    def _acls(self) -> set[object]:
        response = self._admin.call(describing_all_acls(), 3)
        assert isinstance(response, describe_acls.DescribeAclsResponse)
        assert response.error_code == 0, response
        return set(acls_of(response))


def logged_in(address: str, user: str) -> Connection:
    """Return a connection of a user to a listener with SASL. The client id is the user's name."""
    connection = Connection(address, user)
    shaken = connection.call(sasl_handshake.SaslHandshakeRequest(mechanism="PLAIN"), 1)
    assert isinstance(shaken, sasl_handshake.SaslHandshakeResponse)
    assert shaken.error_code == 0, shaken
    request = sasl_authenticate.SaslAuthenticateRequest(auth_bytes=plain(user, PASSWORDS[user]))
    response = connection.call(request, 2)
    assert isinstance(response, sasl_authenticate.SaslAuthenticateResponse)
    assert response.error_code == 0, response
    return connection


def _sorted(value: Json, kept: str | None) -> Json:
    """Return an answer with the objects of each list in order of their text, but for those of the field kept."""
    if isinstance(value, dict):
        return {
            name: [_sorted(entry, kept) for entry in field]
            if name == kept and isinstance(field, list)
            else _sorted(field, kept)
            for name, field in value.items()
        }
    if not isinstance(value, list):
        return value
    entries = [_sorted(entry, kept) for entry in value]
    are_objects = all(isinstance(entry, dict) for entry in entries)
    return sorted(entries, key=lambda entry: json.dumps(entry, sort_keys=True)) if are_objects else entries
