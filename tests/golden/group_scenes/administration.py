"""FindCoordinator, ListGroups, DescribeGroups and DeleteGroups."""

from fauxka.protocol.messages.delete_groups import DeleteGroupsRequest
from fauxka.protocol.messages.delete_topics import DeleteTopicsRequest
from fauxka.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from fauxka.protocol.messages.describe_groups import DescribeGroupsRequest
from fauxka.protocol.messages.find_coordinator import FindCoordinatorRequest
from fauxka.protocol.messages.list_groups import ListGroupsRequest
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic

from ..capture_recorder import TOPIC_RESOURCE
from ..group_client import GroupClient, stable_pair
from ..group_recorder import GroupRecorder
from .offsets import commit_of, fetch_of

GROUP, TRANSACTION, SHARE, UNKNOWN_TYPE = range(4)
FIND_VERSIONS = range(7)
BATCHED_SINCE = 4
SHARE_KEY = "group:AAAAAAAAAAAAAAAAAAAAAQ:0"


INTERNAL_TOPIC_KEYS = [
    "cleanup.policy",
    "compression.type",
    "min.insync.replicas",
    "retention.ms",
    "segment.bytes",
    "unclean.leader.election.enable",
]


def internal_topic_configs(recorder: GroupRecorder) -> None:
    """What internal topics are created with."""
    for name in ("__consumer_offsets", "__transaction_state", "__share_group_state"):
        resource = DescribeConfigsResource(
            resource_type=TOPIC_RESOURCE, resource_name=name, configuration_keys=INTERNAL_TOPIC_KEYS
        )
        recorder.case(name, 4, DescribeConfigsRequest(resources=[resource]))


def first_coordinator(recorder: GroupRecorder) -> None:
    """What the first question after a start is answered: the internal topic is not there yet."""
    recorder.case("of groups", 3, FindCoordinatorRequest(key="group"))
    recorder.expect_coordinator(GROUP, "group")
    recorder.case("of transactions", 4, FindCoordinatorRequest(coordinator_keys=["id"], key_type=TRANSACTION))
    recorder.expect_coordinator(TRANSACTION, "id")
    topics = [MetadataRequestTopic(name=name) for name in ("__consumer_offsets", "__transaction_state")]
    recorder.case("has made internal topics", 12, MetadataRequest(topics=topics, allow_auto_topic_creation=False))


def coordinators(recorder: GroupRecorder) -> None:
    """FindCoordinator in every version."""
    for version in FIND_VERSIONS:
        for key_type in (GROUP, TRANSACTION, SHARE, UNKNOWN_TYPE, -1):
            if version == 0 and key_type != GROUP:
                continue
            if version == FIND_VERSIONS[-1] and key_type == SHARE:
                continue
            for keys in (["group"], [""], ["a", "b", "a"], []):
                if version < BATCHED_SINCE and len(keys) != 1:
                    continue
                request = FindCoordinatorRequest(key=keys[0] if keys else "", coordinator_keys=keys, key_type=key_type)
                recorder.case(f"type {key_type} keys {keys}", version, request)


def share_coordinator(recorder: GroupRecorder) -> None:
    """The coordinator of share groups' state: its keys are of a form of their own."""
    for keys in (["group"], [""], [SHARE_KEY, "x"]):
        recorder.case(f"keys {keys}", 6, FindCoordinatorRequest(coordinator_keys=keys, key_type=SHARE))
        recorder.expect_coordinator(SHARE, SHARE_KEY)
        recorder.case(f"keys {keys} once more", 6, FindCoordinatorRequest(coordinator_keys=keys, key_type=SHARE))


def listed(recorder: GroupRecorder) -> None:
    """ListGroups; the only groups there are yet."""
    recorder.case("no groups", 5, ListGroupsRequest())
    recorder.case("a commit makes a group", 9, commit_of("list-simple"))
    a = GroupClient(recorder, "list-stable", "a")
    a.join_alone()
    a.assign("assigns", a)
    b = GroupClient(recorder, "list-completing", "b", protocol_type="connect")
    b.join_alone()
    c = GroupClient(recorder, "list-left", "c")
    c.join_alone()
    c.leave("leaves")
    d = GroupClient(recorder, "list-pending", "d")
    d.join("asks for a member id")
    for version in range(6):
        recorder.case("all groups", version, ListGroupsRequest())
    for states in (["Stable"], ["stable", " EMPTY "], ["CompletingRebalance"], ["bogus"], ["Dead"], [""]):
        recorder.case(f"in states {states}", 4, ListGroupsRequest(states_filter=states))
    for types in (["classic"], ["Classic", "x"], ["CLASSIC"], ["consumer"], ["share", "streams"], ["bogus"], [""]):
        recorder.case(f"of types {types}", 5, ListGroupsRequest(types_filter=types))
    recorder.case("in a state and of a type", 5, ListGroupsRequest(states_filter=["Empty"], types_filter=["classic"]))


def described(recorder: GroupRecorder) -> None:
    """DescribeGroups in every version and in every state."""
    stable_pair(recorder, "described")
    recorder.case("a commit makes a group", 9, commit_of("described-simple"))
    completing = GroupClient(recorder, "described-completing", "a")
    completing.join_alone()
    preparing, _ = stable_pair(recorder, "described-preparing")
    preparing.start_join()
    recorder.expect("described-preparing", "PreparingRebalance", 2)
    static = GroupClient(recorder, "described-static", "a", group_instance_id="i-a")
    static.join_alone()
    static.assign("assigns", static)
    left = GroupClient(recorder, "described-left", "a")
    left.join_alone()
    left.leave("leaves")
    for version in range(7):
        recorder.case("one that there is not", version, DescribeGroupsRequest(groups=["nothing"]))
        recorder.case("one without an id", version, DescribeGroupsRequest(groups=[""]))
        recorder.case("no group", version, DescribeGroupsRequest(groups=[]))
        recorder.case("a stable one", version, DescribeGroupsRequest(groups=["described"]))
        recorder.case("a static one", version, DescribeGroupsRequest(groups=["described-static"]))
        recorder.case(
            "several with what may be done to them",
            version,
            DescribeGroupsRequest(
                groups=["described-simple", "nothing", "described-completing", "described-preparing"],
                include_authorized_operations=version >= 3,
            ),
        )
        recorder.case("one that was left", version, DescribeGroupsRequest(groups=["described-left"]))
    recorder.case("one twice", 5, DescribeGroupsRequest(groups=["described-simple", "described-simple"]))


def deleted(recorder: GroupRecorder) -> None:
    """DeleteGroups in every version."""
    for version in range(3):
        names = [f"deleted-{version}-{kind}" for kind in ("simple", "members", "left")]
        recorder.case("a commit makes a group", 9, commit_of(names[0]))
        a = GroupClient(recorder, names[1], "a")
        a.join_alone()
        b = GroupClient(recorder, names[2], "a")
        b.join_alone()
        b.leave("leaves")
        recorder.case("several", version, DeleteGroupsRequest(groups_names=[*names, "nothing", ""]))
        recorder.case("again", version, DeleteGroupsRequest(groups_names=names[:1]))
        recorder.case("offsets are gone", 7, fetch_of(recorder, names[0]))
        recorder.case("is Dead", 5, DescribeGroupsRequest(groups=names[:1]))
        b.join("rejoins the deleted group")
        a.assign("assigns", a)
        recorder.case("a stable one", version, DeleteGroupsRequest(groups_names=[names[1]]))
        recorder.case("none", version, DeleteGroupsRequest(groups_names=[]))
        recorder.case("a commit makes it again", 9, commit_of(names[0], 1))
        recorder.case("twice in a request", version, DeleteGroupsRequest(groups_names=[names[0], names[0]]))


def topic_deleted(recorder: GroupRecorder) -> None:
    """Offsets of a deleted topic are gone, also when there is a topic of that name again."""
    recorder.create_topic("group-deleted", 1)
    recorder.case("a commit", 9, commit_of("topic-deleted", topic="group-deleted"))
    recorder.case("another commit", 9, commit_of("topic-deleted"))
    recorder.call(DeleteTopicsRequest(topic_names=["group-deleted"], timeout_ms=30_000), 4)
    recorder.settle()
    recorder.case("is gone", 7, fetch_of(recorder, "topic-deleted"))
    recorder.case("is gone by name", 7, fetch_of(recorder, "topic-deleted", asked=[("group-deleted", [0])]))
    recorder.case("is gone by id", 10, fetch_of(recorder, "topic-deleted", asked=[("group-deleted", [0])]))
    recorder.case("takes no commits", 9, commit_of("topic-deleted", topic="group-deleted"))
    recorder.create_topic("group-deleted", 1)
    recorder.case("is still gone by id", 10, fetch_of(recorder, "topic-deleted", asked=[("group-deleted", [0])]))
