"""Groups of every kind while their coordinator moves, stops, dies and returns.

The coordinator is node 1 at first, then node 2; the topic that the groups read is led by node 3.
"""

import base64

from fauxka.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fauxka.protocol.messages.join_group import JoinGroupResponse
from fauxka.protocol.messages.share_fetch import ShareFetchResponse
from fauxka.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatResponse

from ..capture_replicas import electing, reassigning
from . import coordinator_requests as requests
from .internal_topics import OFFSETS, create_internal_topics
from .recorder import GROUP_RESOURCE, FailoverRecorder
from .requests import Topic, producing, records

CLASSIC, CONSUMER, SHARE, WAITING = "classic", "consumer", "share", "waiting"
MEMBER = "member-of-the-scripts"
# Share groups want a UUID.
SHARE_MEMBER = "AAAAAAAAAAAAAAAAAAAAAQ"
# The epoch of a member after its first heartbeat, and of a share member after the one that assigned it the partition.
MEMBER_EPOCH = 2
SHARE_EPOCH = 3
NODES = (1, 2, 3)


def script(recorder: FailoverRecorder) -> None:
    """Record every case."""
    recorder.scene("coordinator on node 1")
    internal = create_internal_topics(recorder)
    topic = recorder.create("read", [[3, 2, 1]])
    recorder.case(3, "produce", 11, producing(topic, records(4)))
    _found(recorder, topic)
    member = _created(recorder, topic)
    _described(recorder, topic, NODES)
    _wrong_node(recorder, topic, member)
    _waiting(recorder, internal[OFFSETS])
    recorder.scene("the coordinator is killed")
    recorder.kill(1)
    generation = _survived(recorder, topic, member, 1)
    recorder.scene("the coordinator is back")
    recorder.start(1)
    _described(recorder, topic, (2,))
    recorder.electing()
    recorder.scene("the coordinator is back and elected")
    generation = _survived(recorder, topic, member, generation, coordinator=1)
    recorder.scene("the coordinator stops")
    recorder.stop(1)
    _survived(recorder, topic, member, generation)
    recorder.start(1)
    _shared(recorder, topic)


def _found(recorder: FailoverRecorder, topic: Topic) -> None:
    """Ask each node for each kind of coordinator."""
    share_key = f"{SHARE}:{_uuid_text(topic.topic_id)}:0"
    for node in sorted(recorder.live):
        for version in (0, 1, 3, 4, 6):
            recorder.retried_case(
                node, "find a group coordinator", version, requests.finding(CLASSIC, requests.GROUP_KEY)
            )
        transaction = requests.finding("transaction", requests.TRANSACTION_KEY)
        recorder.retried_case(node, "find a transaction coordinator", 6, transaction)
        recorder.retried_case(node, "find a share coordinator", 6, requests.finding(share_key, requests.SHARE_KEY))


def _uuid_text(topic_id: bytes) -> str:
    """Return the text of a topic id as Kafka writes it."""
    return base64.urlsafe_b64encode(topic_id).decode().rstrip("=")


def _created(recorder: FailoverRecorder, topic: Topic) -> str:
    """Create one group of each kind on node 1, each with one member, and return the id of the classic member."""
    joined = recorder.call(1, 3, requests.joining(CLASSIC))
    assert isinstance(joined, JoinGroupResponse), joined
    assert joined.error_code == 0, joined
    recorder.name(joined.member_id, "classic member")
    recorder.case(1, "sync", 5, requests.syncing(CLASSIC, joined.member_id, 1))
    recorder.case(1, "commit", 8, requests.committing(CLASSIC, topic, 2, joined.member_id, 1))
    recorder.case(1, "consumer heartbeat", 1, requests.consuming(CONSUMER, MEMBER, 0, topic))
    recorder.case(1, "consumer heartbeat again", 1, requests.consuming(CONSUMER, MEMBER, MEMBER_EPOCH, topic))
    recorder.case(1, "consumer commit", 9, requests.committing(CONSUMER, topic, 3, MEMBER, MEMBER_EPOCH))
    recorder.retried_case(1, "share heartbeat", 1, requests.sharing(SHARE, SHARE_MEMBER, 0, topic))
    # The assignment comes when the group's state of the partition was initialised.
    again = requests.sharing(SHARE, SHARE_MEMBER, MEMBER_EPOCH, topic)
    recorder.retried_case(1, "share heartbeat with an assignment", 1, again, _is_assigned)
    return joined.member_id


def _described(recorder: FailoverRecorder, topic: Topic, nodes: tuple[int, ...]) -> None:
    for node in nodes:
        recorder.case(node, "describe classic", 6, requests.describing_groups(CLASSIC))
        recorder.case(node, "describe consumer", 1, requests.describing_consumers(CONSUMER))
        recorder.case(node, "describe share", 1, requests.describing_sharers(SHARE))
        recorder.case(node, "list", 5, requests.listing_groups())
        for group in (CLASSIC, CONSUMER):
            for version in (8, 10):
                request = requests.fetching_offsets(group, topic)
                recorder.case(node, f"committed offset of {group}", version, request)


def _wrong_node(recorder: FailoverRecorder, topic: Topic, member: str) -> None:
    recorder.scene("not the coordinator")
    for version in (2, 5, 9):
        recorder.case(2, "join", version, requests.joining(CLASSIC, member))
    for version in (0, 5):
        recorder.case(2, "sync", version, requests.syncing(CLASSIC, member, 1))
    recorder.each_version(2, "heartbeat", (0, 4), requests.beating(CLASSIC, member, 1))
    recorder.each_version(2, "leave", (3, 5), requests.leaving(CLASSIC, member))
    recorder.each_version(2, "commit", (2, 8, 9, 10), requests.committing(CLASSIC, topic, 1, member, 1))
    recorder.case(2, "commit without a member", 8, requests.committing(CLASSIC, topic, 1))
    recorder.case(2, "delete offsets", 0, requests.deleting_offsets(CLASSIC, topic))
    recorder.each_version(2, "delete the group", (0, 2), requests.deleting_groups(CLASSIC))
    recorder.case(2, "consumer heartbeat", 1, requests.consuming(CONSUMER, MEMBER, MEMBER_EPOCH, topic))
    recorder.case(2, "consumer joins", 1, requests.consuming(CONSUMER, "another", 0, topic))
    recorder.case(2, "share heartbeat", 1, requests.sharing(SHARE, SHARE_MEMBER, SHARE_EPOCH, topic))


def _waiting(recorder: FailoverRecorder, offsets: Topic) -> None:
    """A member joins a group whose other member does not, and the coordinator moves to node 2 and back."""
    recorder.scene("a member joins while the coordinator moves")
    joined = recorder.call(1, 3, requests.joining(WAITING))
    assert isinstance(joined, JoinGroupResponse), joined
    recorder.name(joined.member_id, "first member")
    recorder.call(1, 5, requests.syncing(WAITING, joined.member_id, joined.generation_id))
    waiting = recorder.waiting(1, "join", 3, requests.joining(WAITING))
    recorder.case(1, "heartbeat of the first member", 4, requests.beating(WAITING, joined.member_id, 1))
    _move(recorder, offsets, [2, 1, 3])
    waiting.finish(bound_ms=requests.SESSION_TIMEOUT_MS)
    recorder.retried_case(2, "heartbeat of the first member", 4, requests.beating(WAITING, joined.member_id, 1))
    recorder.case(1, "heartbeat of the first member at the former coordinator", 4, requests.beating(WAITING, "", 1))
    _move(recorder, offsets, [1, 2, 3])


def _move(recorder: FailoverRecorder, topic: Topic, replicas: list[int]) -> None:
    recorder.call(1, 1, reassigning((topic.name, [(0, replicas)])))
    recorder.call(1, 2, electing(0, (topic.name, [0])))
    recorder.until_leader(topic, replicas[0])


def _survived(recorder: FailoverRecorder, topic: Topic, member: str, generation: int, *, coordinator: int = 2) -> int:
    """Ask the new coordinator for every group, and return the generation of the classic one after a new join."""
    _found(recorder, topic)
    heartbeat = requests.beating(CLASSIC, member, generation)
    recorder.retried_case(coordinator, "heartbeat", 4, heartbeat)
    for node in sorted(recorder.live - {coordinator}):
        recorder.case(node, "heartbeat", 4, heartbeat)
    _described(recorder, topic, (coordinator,))
    recorder.case(coordinator, "consumer heartbeat", 1, requests.consuming(CONSUMER, MEMBER, MEMBER_EPOCH, topic))
    recorder.retried_case(coordinator, "share heartbeat", 1, requests.sharing(SHARE, SHARE_MEMBER, SHARE_EPOCH, topic))
    recorder.case(coordinator, "commit", 8, requests.committing(CLASSIC, topic, 4, member, generation))
    recorder.case(coordinator, "commit in an old generation", 8, requests.committing(CLASSIC, topic, 4, member, 0))
    recorder.case(coordinator, "join again", 5, requests.joining(CLASSIC, member))
    recorder.case(coordinator, "sync", 5, requests.syncing(CLASSIC, member, generation + 1))
    recorder.case(coordinator, "heartbeat after the join", 4, requests.beating(CLASSIC, member, generation + 1))
    recorder.case(coordinator, "describe after the join", 6, requests.describing_groups(CLASSIC))
    return generation + 1


def _shared(recorder: FailoverRecorder, topic: Topic) -> None:
    """Fetch records of a share group from the leader 3 and others, before and after node 2 becomes the leader."""
    recorder.scene("share fetches")
    entry = AlterableConfig(name="share.auto.offset.reset", config_operation=0, value="earliest")
    resource = AlterConfigsResource(resource_type=GROUP_RESOURCE, resource_name=SHARE, configs=[entry])
    recorder.call(1, 1, IncrementalAlterConfigsRequest(resources=[resource]))
    recorder.publish()
    first = requests.share_fetching(SHARE, SHARE_MEMBER, 0, topic)
    recorder.retried_case(3, "share fetch", 1, first, _has_acquired)
    with recorder.kept_connections(1, 2, 3):
        _share_session(recorder, topic)


def _share_session(recorder: FailoverRecorder, topic: Topic) -> None:
    """The records that were acquired on a connection that is closed are acquired once more."""
    first = requests.share_fetching(SHARE, SHARE_MEMBER, 0, topic)
    recorder.retried_case(3, "share fetch on another connection", 1, first, _has_acquired)
    for node in (1, 2):
        recorder.each_version(node, "share fetch from a follower", (1, 2), first)
    accepted = requests.acknowledging(SHARE, SHARE_MEMBER, 1, topic, 0)
    recorder.case(2, "acknowledge to a follower", 1, accepted)
    recorder.case(3, "acknowledge", 1, accepted)
    second = requests.share_fetching(SHARE, SHARE_MEMBER, 2, topic)
    recorder.case(3, "share fetch again", 1, second)
    recorder.scene("share fetches after the leader moved")
    _move(recorder, topic, [2, 3, 1])
    recorder.case(3, "acknowledge", 1, requests.acknowledging(SHARE, SHARE_MEMBER, 3, topic, 1))
    recorder.case(3, "share fetch", 1, requests.share_fetching(SHARE, SHARE_MEMBER, 4, topic))
    recorder.retried_case(2, "share fetch", 1, first, _has_acquired)
    recorder.case(2, "acknowledge", 1, requests.acknowledging(SHARE, SHARE_MEMBER, 1, topic, 1))


def _is_assigned(response: object) -> bool:
    assert isinstance(response, ShareGroupHeartbeatResponse), response
    return response.assignment is not None and bool(response.assignment.topic_partitions)


def _has_acquired(response: object) -> bool:
    assert isinstance(response, ShareFetchResponse), response
    return any(each.acquired_records for topic in response.responses for each in topic.partitions)
