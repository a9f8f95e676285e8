"""Runs the worlds of the matrix against one broker, and makes a line of each.

The line of a world has the answer to each of its requests, as its number in the list of the request's different
answers. Those lists are lines too, before the worlds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from fauxka.protocol.messages import (
    create_delegation_token,
    delete_topics,
    init_producer_id,
    offset_commit,
)

from ...wire.message_client import MessageClient
from ...wire.wire_connection import ConnectionClosedError
from ..acl_brokers import BOB
from ..acl_recorder import AclCapture
from ..acl_scene import IN_ORDER, AclNormalForm, logged_in, sorted_entries
from ..capture_normal_form import Json
from ..failover.coordinator_requests import committing, initialising
from ..failover.requests import Topic
from ..sasl_client import Addresses
from .requests_of_groups import GROUPS, MEMBER
from .requests_of_records import CLOSED, DOOMED, OPEN
from .worlds import BOBS_TOKEN, LOCALHOST, REQUESTS, World

COMMITTED_OFFSET = 7
TOKEN_VERSION = 3
DELETE_TOPICS = "DeleteTopics"
# Longer lists of configs are those of a topic that would be created.
CONFIGS_MAX = 3
SECRETS = {"hmac", "token_id"}
TIMES = {"expiry_timestamp", "issue_timestamp", "max_timestamp"}


class MatrixNormalForm(AclNormalForm):
    """The normal form of answers of the matrix."""

    def __init__(self, address: str) -> None:
        """address: "host:port" of the captured listener."""
        super().__init__(address, "")
        self._known_producers: dict[int, str] = {}

    def name_producer(self, producer_id: int, name: str) -> None:
        """Write that producer id as that name."""
        self._known_producers[producer_id] = name

    def of(self, value: object, *, name: str = "") -> Json:
        """Return the value; of many configs only that there are some."""
        whole = super().of(value, name=name)
        is_long = name == "configs" and isinstance(whole, list) and len(whole) > CONFIGS_MAX
        return "all configs" if is_long else whole

    def _bytes(self, value: bytes, name: str) -> Json:
        return "SECRET" if name in SECRETS else super()._bytes(value, name)

    def _text(self, value: str, name: str) -> Json:
        # The member id of the requests looks as if the broker had generated it.
        name = "" if value == MEMBER else name
        return "SECRET" if name in SECRETS else super()._text(value, name)

    def _number(self, value: int, name: str) -> Json:
        if name.endswith("producer_id") and value >= 0:
            return self._known_producers.get(value, "a producer")
        return "TIME" if name in TIMES and value > 0 else super()._number(value, name)


class MatrixCapture:
    """Runs worlds against one broker."""

    def __init__(self, addresses: Addresses) -> None:
        """Create topics, groups, transactional ids and tokens. addresses: of the listeners of acl_brokers."""
        self._address = addresses["SASL_PLAINTEXT"]
        self._acls = AclCapture(addresses)
        self._admin = self._acls.admin
        self._form = MatrixNormalForm(self._address)
        self._admin.normal_form = self._form
        self._connections: dict[tuple[str, str], MessageClient] = {}
        self._topic_ids: dict[str, bytes] = {}
        for name in (OPEN, CLOSED, *DOOMED):
            self._create_topic(name)
        self._admin.settle()
        for group in GROUPS:
            self._commit(group)
            self._initialise(group)
        self._bobs_token = self._create_token()
        self._acls.clear_acls()

    def run(self, world: World) -> list[Json]:
        """Return the answers of a world, in the order of its requests."""
        acls = tuple(replace(acl, name=self._bobs_token) if acl.name == BOBS_TOKEN else acl for acl in world.acls)
        self._acls.create_acls(acls)
        answers: list[Json] = []
        try:
            while len(answers) < len(world.asked):
                answers += self._answers(world, len(answers))
        finally:
            self._acls.clear_acls()
        return answers

    def close(self) -> None:
        """Close the connections."""
        for connection in self._connections.values():
            connection.close()
        self._acls.close()

    def _answers(self, world: World, first: int) -> Iterator[Json]:
        """Send requests from the first one on, up to the next DeleteTopics."""
        asked = world.asked[first:]
        last = next((number for number, (request, _) in enumerate(asked) if request.api == DELETE_TOPICS), len(asked))
        asked = asked[: last + 1]
        client = (world.user, world.host)
        if client not in self._connections:
            self._connections[client] = logged_in(self._address, *client)
        sent = [(request.message(self._topic_ids), version) for request, version in asked]
        try:
            for (request, _), response in zip(asked, self._connections[client].call_each(sent), strict=True):
                yield sorted_entries(self._form.of(response), IN_ORDER.get(request.api))
                if isinstance(response, delete_topics.DeleteTopicsResponse):
                    self._create_deleted(response)
        except (ConnectionClosedError, TimeoutError) as error:
            self._connections.pop(client).close()
            yield "NO_RESPONSE" if isinstance(error, TimeoutError) else "CONNECTION_CLOSED"

    # -- what is there in every world

    def _create_topic(self, name: str) -> None:
        self._topic_ids[name] = self._admin.create_topic(name)
        self._form.name_topic_id(self._topic_ids[name], name)

    def _create_deleted(self, response: delete_topics.DeleteTopicsResponse) -> None:
        deleted = [result.name for result in response.responses if not result.error_code and result.name]
        if not deleted:
            return
        self._admin.settle()
        for name in deleted:
            self._create_topic(name)
        self._admin.settle()

    def _commit(self, group: str) -> None:
        for name in (OPEN, CLOSED):
            response = self._admin.call(
                committing(group, Topic(name, self._topic_ids[name], [[1]]), COMMITTED_OFFSET),
                9,
                offset_commit.OffsetCommitResponse,
            )
            assert response.topics[0].partitions[0].error_code == 0, response

    def _initialise(self, transactional_id: str) -> None:
        response = self._admin.call(initialising(transactional_id), 4, init_producer_id.InitProducerIdResponse)
        assert response.error_code == 0, response
        self._form.name_producer(response.producer_id, f"producer of {transactional_id}")

    def _create_token(self) -> str:
        """Create a token of bob, and return its id when it can be used."""
        connection = logged_in(self._address, BOB, LOCALHOST)
        request = create_delegation_token.CreateDelegationTokenRequest(max_lifetime_ms=-1)
        response = connection.call(request, TOKEN_VERSION)
        connection.close()
        assert isinstance(response, create_delegation_token.CreateDelegationTokenResponse)
        assert response.error_code == 0, response
        self._admin.settle()
        return response.token_id


class AnswerTable:
    """The different answers to each request, in the order of their appearance."""

    def __init__(self, lines: Iterable[Json] = ()) -> None:
        """lines: those of requests."""
        self._answers: dict[str, list[Json]] = {
            f"{request.name(version)}": [] for request in REQUESTS for version in request.versions
        }
        for line in lines:
            assert isinstance(line, dict)
            name, answers = line["request"], line["answers"]
            assert isinstance(name, str)
            assert isinstance(answers, list)
            self._answers[name] = answers

    def number_of(self, name: str, answer: Json) -> int:
        """Return the number of the answer to a request."""
        answers = self._answers[name]
        if answer not in answers:
            answers.append(answer)
        return answers.index(answer)

    def answer_of(self, name: str, number: int) -> Json:
        """Return the answer of that number."""
        return self._answers[name][number]

    def lines(self) -> Iterator[Json]:
        """Return a line for each request that was sent."""
        for name, answers in self._answers.items():
            if answers:
                yield {"request": name, "answers": answers}


def line_of(world: World, answers: Sequence[Json], table: AnswerTable) -> Json:
    """Return the line of a world."""
    names = [request.name(version) for request, version in world.asked]
    return {
        "world": world.name,
        "broker": world.broker,
        "user": world.user,
        "host": world.host,
        "acls": [
            " ".join((acl.permission, acl.principal, acl.host, acl.operation, acl.resource_type, acl.pattern, acl.name))
            for acl in world.acls
        ],
        "answers": [table.number_of(name, answer) for name, answer in zip(names, answers, strict=True)],
    }


def json_lines(lines: Iterable[Json]) -> str:
    """Return the text of a golden file."""
    return "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
