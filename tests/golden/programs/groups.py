"""Classic groups of one member: what joins, syncs, heartbeats, commits and leaves get in each state of the group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from ..case_recorder import Answer, CaseRecorder, Json
from ..raw_apis_groups import (
    DELETE_GROUPS,
    DESCRIBE_GROUPS,
    HEARTBEAT,
    JOIN_GROUP,
    LEAVE_GROUP,
    LIST_GROUPS,
    OFFSET_COMMIT,
    SYNC_GROUP,
)
from ..raw_apis_transactions import FIND_COORDINATOR, OFFSET_FETCH
from ..raw_schema import Api, Struct, Value

MEMBER_ID_REQUIRED = 79
# COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR.
NOT_READY = (14, 15, 16)
SIMPLE_GENERATION = -1
# The generation and the member of a commit that no member sends.
NO_MEMBER = SIMPLE_GENERATION, ""
UNKNOWN_MEMBER = "unknown-member"
METADATA_BYTES_MAX = 4096
# A subscription of version 0 without topics. Kafka does not respond to a JoinGroup with an unreadable one.
METADATA, ASSIGNMENT = bytes.fromhex("0000 00000000 ffffffff"), b"assignment"
# Below group.min.session.timeout.ms, and above group.max.session.timeout.ms.
SHORT_SESSION_MS, LONG_SESSION_MS = 5_000, 1_800_001


def groups(recorder: CaseRecorder) -> list[Callable[[], None]]:
    """The groups of cases, each about a consumer group of its own."""
    parts = (refused_joins, one_member, simple_commits, static_member, listed)
    return [partial(part, GroupScene(recorder, part.__name__)) for part in parts]


class GroupScene:
    """A group, its member, and the requests about it. Member ids are recorded by the order of their appearance."""

    def __init__(self, recorder: CaseRecorder, name: str) -> None:
        self.recorder = recorder
        self.group_id = recorder.unique(name.replace("_", "-"))
        self.member_id = ""
        self.generation_id = SIMPLE_GENERATION
        self._labels: dict[str, str] = {}

    def find_coordinator(self) -> None:
        """Wait until the group has a coordinator that has loaded it."""
        for _ in self.recorder.attempts():
            found = self.call(FIND_COORDINATOR, 4, {"coordinator_keys": [self.group_id]}).structs("coordinators")[0]
            if found.integer("error_code"):
                continue
            heartbeat = self.call(HEARTBEAT, 4, self._as_member(1, UNKNOWN_MEMBER))
            if heartbeat.integer("error_code") not in NOT_READY:
                return
        raise TimeoutError(f"{self.group_id} has no coordinator")

    def call(self, api: Api, version: int, body: Mapping[str, Value]) -> Struct:
        return self.recorder.connection.call(api, version, body)

    def label(self, member_id: str) -> str:
        if member_id in ("", UNKNOWN_MEMBER):
            return member_id
        return self._labels.setdefault(member_id, f"member#{len(self._labels) + 1}")

    def record(self, case: str, error_code: int, **facts: Json) -> None:
        self.recorder.record(case, None, Answer(error_code), **facts)

    def join(self, case: str, member_id: str | None = None, **fields: Value) -> None:
        """Join as the member, or as another one, and record the response."""
        body: Mapping[str, Value] = {
            "group_id": self.group_id,
            "member_id": self.member_id if member_id is None else member_id,
            "protocols": [{"name": "range", "metadata": METADATA}],
            **fields,
        }
        response = self.call(JOIN_GROUP, 9, body)
        error_code, joined = response.integer("error_code"), response.text("member_id")
        if error_code in (0, MEMBER_ID_REQUIRED):
            self.member_id = joined
        if not error_code:
            self.generation_id = response.integer("generation_id")
        self.record(
            case,
            error_code,
            generation=response.integer("generation_id"),
            protocol=response.optional_text("protocol_name") or "",
            leader=self.label(response.text("leader")),
            member=self.label(joined),
            members=[self.label(each.text("member_id")) for each in response.structs("members")],
        )

    def sync(self, case: str, generation_id: int | None = None, member_id: str | None = None, **fields: Value) -> None:
        member = self.member_id if member_id is None else member_id
        assignments: Value = [{"member_id": self.member_id, "assignment": ASSIGNMENT}]
        body = {**self._as_member(generation_id, member), "assignments": assignments, **fields}
        response = self.call(SYNC_GROUP, 5, body)
        self.record(case, response.integer("error_code"), assignment=response.data("assignment").decode())

    def heartbeat(
        self, case: str, generation_id: int | None = None, member_id: str | None = None, **fields: Value
    ) -> None:
        member = self.member_id if member_id is None else member_id
        response = self.call(HEARTBEAT, 4, {**self._as_member(generation_id, member), **fields})
        self.record(case, response.integer("error_code"))

    def _as_member(self, generation_id: int | None, member_id: str) -> dict[str, Value]:
        generation = self.generation_id if generation_id is None else generation_id
        return {"group_id": self.group_id, "generation_id": generation, "member_id": member_id}

    def commit(
        self,
        case: str,
        topic: str,
        offset: int,
        sender: tuple[int, str] | None = None,
        **fields: Value,
    ) -> None:
        """Commit an offset as the member, or by another generation and member. fields: of the partition, if not 0."""
        committed: Value = [{"index": 0, "committed_offset": offset, **fields}]
        topics: Value = [{"name": topic, "partitions": committed}]
        member = self._as_member(*(sender or (self.generation_id, self.member_id)))
        response = self.call(OFFSET_COMMIT, 9, {**member, "topics": topics})
        self.record(case, response.structs("topics")[0].structs("partitions")[0].integer("error_code"))

    def committed(self, case: str, topic: str, group_id: str | None = None) -> None:
        """Record the committed offsets of two partitions."""
        topics: Value = [{"name": topic, "partitions": [0, 1]}]
        asked: Value = [{"group_id": group_id or self.group_id, "topics": topics}]
        group = self.call(OFFSET_FETCH, 8, {"groups": asked}).structs("groups")[0]
        partitions = [each for named in group.structs("topics") for each in named.structs("partitions")]
        offsets: list[Json] = [
            [each.integer("index"), each.integer("committed_offset"), each.integer("error_code")] for each in partitions
        ]
        self.record(case, group.integer("error_code"), offsets=offsets)

    def describe(self, case: str, group_id: str | None = None) -> None:
        group = self.call(DESCRIBE_GROUPS, 6, {"groups": [group_id or self.group_id]}).structs("groups")[0]
        members: list[Json] = [
            [
                self.label(each.text("member_id")),
                each.text("client_host"),
                each.data("member_metadata").hex(),
                each.data("member_assignment").decode(),
            ]
            for each in group.structs("members")
        ]
        described = [group.text(name) for name in ("group_state", "protocol_type", "protocol_data")]
        self.record(case, group.integer("error_code"), described=[*described], members=members)

    def leave(self, case: str, member_id: str | None = None, instance_id: str | None = None) -> None:
        """Leave, and record the error of the group, and that of the member where the version has one."""
        member = self.member_id if member_id is None else member_id
        members: Value = [{"member_id": member, "group_instance_id": instance_id}]
        response = self.call(LEAVE_GROUP, 5, {"group_id": self.group_id, "members": members})
        of_members: list[Json] = [each.integer("error_code") for each in response.structs("members")]
        self.record(case, response.integer("error_code"), members=of_members)

    def delete(self, case: str, group_id: str | None = None) -> None:
        response = self.call(DELETE_GROUPS, 2, {"groups_names": [group_id or self.group_id]})
        self.record(case, response.structs("results")[0].integer("error_code"))


def refused_joins(scene: GroupScene) -> None:
    scene.find_coordinator()
    scene.join("J01 an unknown member id", UNKNOWN_MEMBER)
    scene.join("J02 a short session", session_timeout_ms=SHORT_SESSION_MS)
    scene.join("J03 a long session", session_timeout_ms=LONG_SESSION_MS)
    scene.join("J04 no group id", group_id="")
    scene.join("J05 no protocols", protocols=[])
    scene.join("J06 no protocol type", protocol_type="")
    scene.describe("J07 the group after that")
    scene.heartbeat("J08 heartbeat of no member", 1, UNKNOWN_MEMBER)
    scene.sync("J09 sync of no member", 1, UNKNOWN_MEMBER)
    scene.leave("J10 leave of no member", UNKNOWN_MEMBER)
    scene.delete("J11 delete no group")


def one_member(scene: GroupScene) -> None:
    topic = scene.recorder.create_topic(2)
    scene.find_coordinator()
    scene.join("M01 join without a member id")
    scene.join("M02 join with the id")
    scene.heartbeat("M03 heartbeat before the sync")
    scene.sync("M04 sync")
    scene.sync("M05 sync again")
    scene.heartbeat("M06 heartbeat")
    scene.heartbeat("M07 heartbeat of an older generation", 0)
    scene.heartbeat("M08 heartbeat of a later generation", 7)
    scene.heartbeat("M09 heartbeat of another member", member_id=UNKNOWN_MEMBER)
    scene.sync("M10 sync of an older generation", 0)
    scene.sync("M11 sync of another member", member_id=UNKNOWN_MEMBER)
    scene.sync("M12 sync of another protocol", protocol_name="roundrobin")
    scene.describe("M13 describe")
    scene.commit("M14 commit", topic, 5)
    scene.commit("M15 commit of an older generation", topic, 6, (0, scene.member_id))
    scene.commit("M16 commit of another member", topic, 6, (scene.generation_id, UNKNOWN_MEMBER))
    scene.commit("M17 commit of no member", topic, 6, NO_MEMBER)
    scene.commit("M18 commit for no topic", scene.recorder.unique("no-topic"), 6)
    scene.commit("M19 commit for no partition", topic, 6, index=9)
    scene.commit("M20 much metadata", topic, 6, committed_metadata="x" * (METADATA_BYTES_MAX + 1))
    scene.commit("M21 as much metadata as allowed", topic, 6, committed_metadata="x" * METADATA_BYTES_MAX, index=1)
    scene.committed("M22 committed", topic)
    scene.join("M23 join of another protocol", "", protocols=[{"name": "sticky", "metadata": METADATA}])
    scene.join("M24 join of another type", "", protocol_type="connect")
    scene.delete("M25 delete a group with a member")
    scene.leave("M26 leave of another member", UNKNOWN_MEMBER)
    scene.leave("M27 leave")
    scene.describe("M28 describe the empty group")
    scene.heartbeat("M29 heartbeat after the leave")
    scene.commit("M30 commit after the leave", topic, 7)
    scene.commit("M31 commit of no member into the empty group", topic, 8, NO_MEMBER)
    scene.committed("M32 committed", topic)
    scene.delete("M33 delete the empty group")
    scene.committed("M34 committed after the delete", topic)
    scene.describe("M35 describe after the delete")


def simple_commits(scene: GroupScene) -> None:
    topic = scene.recorder.create_topic(2)
    scene.find_coordinator()
    scene.committed("C01 committed of no group", topic)
    scene.commit("C02 commit into no group", topic, 3)
    scene.describe("C03 describe")
    scene.committed("C04 committed", topic)
    scene.commit("C05 commit of a member into no group", topic, 4, (1, UNKNOWN_MEMBER))
    scene.commit("C06 a negative offset", topic, -1)
    scene.committed("C07 committed", topic)
    scene.delete("C08 delete")


def static_member(scene: GroupScene) -> None:
    scene.find_coordinator()
    scene.join("S01 join", "", group_instance_id="one")
    scene.sync("S02 sync", group_instance_id="one")
    first = scene.member_id
    scene.join("S03 join again", "", group_instance_id="one")
    scene.heartbeat("S04 heartbeat of the first", member_id=first, group_instance_id="one")
    scene.heartbeat("S05 heartbeat of the second", group_instance_id="one")
    scene.sync("S06 sync of the first", member_id=first, group_instance_id="one")
    scene.describe("S07 describe")
    scene.leave("S08 leave of another instance", "", "two")
    scene.leave("S09 leave by the instance", "", "one")
    scene.describe("S10 describe")


def listed(scene: GroupScene) -> None:
    topic = scene.recorder.create_topic()
    scene.find_coordinator()
    scene.commit("L01 commit", topic, 1)
    response = scene.call(LIST_GROUPS, 5, {})
    found = [each for each in response.structs("groups") if each.text("group_id") == scene.group_id]
    kinds: list[Json] = [
        [each.text("protocol_type"), each.optional_text("group_state") or "", each.optional_text("group_type") or ""]
        for each in found
    ]
    scene.record("L02 list", response.integer("error_code"), groups=kinds)
