"""Members with an instance id: they leave for a while, and come back under another member id."""

from fauxka.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity

from ..consumer_group_client import ConsumerMember
from ..consumer_group_recorder import ConsumerGroupRecorder
from .heartbeats import TOPIC


def restarts(recorder: ConsumerGroupRecorder) -> None:
    """A member leaves for a while and comes back; nothing is assigned anew."""
    a = ConsumerMember(recorder, "restart", "a", TOPIC, instance_id="i-a")
    b = ConsumerMember(recorder, "restart", "b", TOPIC, instance_id="i-b")
    a.join()
    b.join()
    a.beat("is told to give up")
    a.own("has given up")
    b.beat("gets its partitions")
    other = ConsumerMember(recorder, "restart", "other", TOPIC, instance_id="i-a")
    other.join("wants the place")
    a.leave("leaves for a while", epoch=-2)
    recorder.describe_case("while one is away", "restart")
    a.beat("is alive while it is away")
    b.beat()
    other.join("takes the place")
    recorder.describe_case("with the one that came back", "restart")
    other.own()
    a.beat("is alive under the old id")
    a.leave("leaves under the old id")
    a.leave("leaves under the old id for a while", epoch=-2)
    other.beat("is alive without its instance", instance_id=None)
    other.beat("is another instance", instance_id="i-b")
    other.join("joins again under its id")
    third = ConsumerMember(recorder, "restart", "third", "kip-second", instance_id="i-a")
    other.leave("leaves for a while", epoch=-2)
    third.join("comes back with another topic")
    recorder.describe_case("with another topic", "restart")
    third.leave()
    b.leave("leaves for a while as no instance", epoch=-2)
    recorder.describe_case("with one", "restart")
    recorder.kept("kept", "restart")


def removed(recorder: ConsumerGroupRecorder) -> None:
    """An administrator removes members by LeaveGroup."""
    a = ConsumerMember(recorder, "removed", "a", TOPIC, instance_id="i-a")
    b = ConsumerMember(recorder, "removed", "b", TOPIC)
    a.join()
    b.join()
    members = [
        MemberIdentity(group_instance_id="i-nobody"),
        MemberIdentity(member_id="b", group_instance_id="i-a"),
        MemberIdentity(member_id="nobody"),
        MemberIdentity(group_instance_id="i-a"),
        MemberIdentity(member_id="b"),
    ]
    recorder.case("members are removed", 5, LeaveGroupRequest(group_id="removed", members=members))
    recorder.describe_case("without members", "removed")
    recorder.kept("kept", "removed")
