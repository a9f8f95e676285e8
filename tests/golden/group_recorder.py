"""What the group scenes share: recorders with a connection for each member, and answers in a form that repeats.

Member ids end in a random UUID and are numbered in the order of their appearance; members, listed groups and offsets
that are asked for without names come in the order of a hash table and are sorted.
"""

import json
import re
import time
from collections.abc import Callable
from typing import TextIO

from fauxka.protocol.client_requests import RequestMessage
from fauxka.protocol.messages.delete_groups import DeletableGroupResult
from fauxka.protocol.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from fauxka.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from fauxka.protocol.messages.join_group import JoinGroupResponseMember
from fauxka.protocol.messages.list_groups import ListedGroup
from fauxka.protocol.messages.offset_fetch import (
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

from ..wire.message_client import MessageClient
from ..wire.wire_connection import ConnectionClosedError
from .capture_normal_form import Json, NormalForm
from .capture_recorder import Recorder

SETTLE_SECONDS_MAX = 30.0
POLL_SECONDS = 0.01
UUID_SUFFIX = re.compile(r"^(.*)-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$", re.DOTALL)
# Lists of these have no order of their own.
UNORDERED = {
    DeletableGroupResult,
    DescribedGroupMember,
    JoinGroupResponseMember,
    ListedGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
}
# Kafka and fauxka number their only node differently.
NODE_FIELDS = {"node_id"}


class GroupNormalForm(NormalForm):
    """The normal form, with names for member ids and an order for lists that have none."""

    def __init__(self, bootstrap: str) -> None:
        """bootstrap: "host:port"."""
        super().__init__(bootstrap)
        self._numbers: dict[str, dict[str, int]] = {}

    def of(self, value: object, *, name: str = "") -> Json:
        """Return the value, lists without an order sorted."""
        whole = super().of(value, name=name)
        if isinstance(value, list) and isinstance(whole, list) and value and type(value[0]) in UNORDERED:  # pyright: ignore[reportUnknownArgumentType]
            return sorted(whole, key=lambda entry: json.dumps(entry, sort_keys=True))
        return whole

    def _text(self, value: str, name: str) -> Json:
        found = UUID_SUFFIX.match(value)
        if found is None:
            return super()._text(value, name)
        known = self._numbers.setdefault(found[1], {})
        return f"{found[1]}-#{known.setdefault(found[2], len(known) + 1)}"

    def _number(self, value: int, name: str) -> Json:
        if name in NODE_FIELDS and value >= 0:
            return "NODE"
        return super()._number(value, name)


class GroupRecorder(Recorder):
    """A recorder for one client; those of one run share their output and their normal form."""

    def __init__(
        self, bootstrap: str, output: TextIO, client_id: str = "capture", normal_form: NormalForm | None = None
    ) -> None:
        """Connect as client_id; lines go to output."""
        super().__init__(bootstrap, output)
        self._client_id = client_id
        self._under_way: tuple[RequestMessage, int] | None = None
        self._others: list[GroupRecorder] = []
        self.normal_form = normal_form or GroupNormalForm(bootstrap)
        self.scene = ""
        self.reconnect()

    def another(self, client_id: str) -> "GroupRecorder":
        """Return a recorder for another client of the same run."""
        recorder = GroupRecorder(self.bootstrap, self._output, client_id, self.normal_form)
        recorder.scene = self.scene
        recorder.topic_ids = self.topic_ids
        self._others.append(recorder)
        return recorder

    def close_others(self) -> None:
        """Close the connections of all other clients."""
        for recorder in self._others:
            recorder.connection.close()
        self._others.clear()

    def reconnect(self) -> None:
        """Start a new connection under the same client id."""
        self.connection.close()
        self.connection = MessageClient(self.bootstrap, self._client_id)

    def case(self, case: str, version: int, request: RequestMessage, **remarks: Json) -> object | None:
        """Record a case under the name of the scene."""
        return super().case(f"{self.scene}: {case}", version, request, **remarks)

    def start(self, version: int, request: RequestMessage) -> None:
        """Send a request whose answer comes later."""
        self.connection.send(request, version)
        self._under_way = (request, version)

    def finish(self, case: str) -> object | None:
        """Record the answer to the request that was started."""
        assert self._under_way is not None, "nothing was started"
        request, version = self._under_way
        response: object | None = None
        try:
            response = self.connection.receive()
            answer = self.normal_form.of(response)
        except ConnectionClosedError:
            self.reconnect()
            answer = "CONNECTION_CLOSED"
        except TimeoutError:
            self.reconnect()
            answer = "NO_RESPONSE"
        self._write(f"{self.scene}: {case}", request, version, answer, {})
        return response

    def describe(self, group_id: str) -> DescribedGroup:
        """Return the group as it is now, without a line."""
        response = self.call(DescribeGroupsRequest(groups=[group_id]), 5, DescribeGroupsResponse)
        return response.groups[0]

    def expect(self, group_id: str, state: str, member_count: int) -> None:
        """Return when the group is in that state with so many members: a request that waits has arrived."""

        def is_so() -> bool:
            group = self.describe(group_id)
            return group.group_state == state and len(group.members) == member_count

        self.expect_that(is_so, f"group {group_id} to be {state} with {member_count} members")

    def expect_coordinator(self, key_type: int, key: str) -> None:
        """Return when there is a coordinator for that key."""

        def is_so() -> bool:
            response = self.call(
                FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key]), 6, FindCoordinatorResponse
            )
            return response.coordinators[0].error_code == 0

        self.expect_that(is_so, f"a coordinator of type {key_type} for {key!r}")

    def expect_that(self, is_so: Callable[[], bool], what: str) -> None:
        """Return when it is so."""
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while not is_so():
            if time.monotonic() > deadline:
                raise TimeoutError(f"waited {SETTLE_SECONDS_MAX} s for {what}")
            time.sleep(POLL_SECONDS)
