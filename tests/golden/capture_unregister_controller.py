"""UnregisterController, and DeleteGroups v3: python -m tests.golden.capture_unregister_controller HOST:PORT.

Needs a fresh Kafka 4.4 with node id 1, which is also the controller.
"""

from fauxka.protocol.messages.delete_groups import DeleteGroupsRequest
from fauxka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fauxka.protocol.messages.unregister_controller import UnregisterControllerRequest

from .capture_recorder import Recorder, main
from .capture_share_groups import wait_for_group_coordinator

CONTROLLER_ID = 1
VERSIONS = range(4)


def capture(recorder: Recorder) -> None:
    """Record every case."""
    for controller_id in (CONTROLLER_ID, 2, 99, 0, -1, 2**31 - 1):
        recorder.case(f"controller {controller_id}", 0, UnregisterControllerRequest(controller_id=controller_id))
    recorder.create_topic("orders")
    wait_for_group_coordinator(recorder)
    for version in VERSIONS:
        recorder.case("a missing group", version, DeleteGroupsRequest(groups_names=["nope"]))
        recorder.case("an empty group id", version, DeleteGroupsRequest(groups_names=[""]))
        recorder.case("a missing group twice", version, DeleteGroupsRequest(groups_names=["nope", "nope"]))
        commit(recorder, f"group-{version}")
        recorder.case("a group with offsets", version, DeleteGroupsRequest(groups_names=[f"group-{version}"]))
        recorder.case("no groups", version, DeleteGroupsRequest())


def commit(recorder: Recorder, group_id: str) -> None:
    """Commit an offset, which creates the group."""
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=1, committed_metadata="")
    topic = OffsetCommitRequestTopic(name="orders", partitions=[partition])
    recorder.call(OffsetCommitRequest(group_id=group_id, topics=[topic]), 9)


if __name__ == "__main__":
    main(capture)
