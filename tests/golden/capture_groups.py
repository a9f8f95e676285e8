"""What a broker answers to the APIs of classic groups, before and after it is started again, and what it keeps of it.

python -m tests.golden.capture_groups writes both files from a real Kafka: groups-4.3.0.jsonl, and
consumer_offsets-4.3.0.log, which is the segment of __consumer_offsets as it was when the broker was stopped.
"""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from ..reference.kafka_process import kafka_process
from .group_recorder import GroupRecorder
from .group_scenes import administration, joining, members, offsets, restart, static_members

GOLDEN = Path(__file__).parent / "groups-4.3.0.jsonl"
GOLDEN_LOG = Path(__file__).parent / "consumer_offsets-4.3.0.log"
SEGMENT = Path("__consumer_offsets-0", "00000000000000000000.log")

# Small enough that scenes can wait for a session to end, and that a group can be full.
GROUP_CONFIG = {
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "group.max.size": "3",
    "group.min.session.timeout.ms": "500",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
}

# In this order: the first one needs a broker without a coordinator, the third one without groups.
SCENES: dict[str, Callable[[GroupRecorder], None]] = {
    "first coordinator": administration.first_coordinator,
    "coordinator": administration.coordinators,
    "list": administration.listed,
    "describe": administration.described,
    "delete": administration.deleted,
    "refused": joining.refused,
    "whole life": joining.whole_life,
    "protocols": joining.protocols,
    "vote": joining.votes,
    "rejoin": joining.rejoining,
    "pending": joining.pending,
    "full": joining.full,
    "timeout": joining.timeouts,
    "leader leaves": joining.leader_leaves,
    "waiting member leaves": joining.waiting_member_leaves,
    "restart": static_members.restarts,
    "fencing": static_members.fencing,
    "restart in a rebalance": static_members.in_the_middle,
    "restart with other protocols": static_members.other_protocol,
    "static member": static_members.known_ids,
    "sync refused": members.sync_refused,
    "sync": members.syncing,
    "heartbeat": members.heartbeat_refused,
    "leave": members.leaving,
    "leave together": members.leaving_together,
    "commit": offsets.simple_commits,
    "metadata": offsets.large_metadata,
    "commit of a member": offsets.member_commits,
    "fetch": offsets.fetches,
    "delete offsets": offsets.deletes,
    "topic deleted": administration.topic_deleted,
    "share coordinator": administration.share_coordinator,
    "internal topic": administration.internal_topic_configs,
}


@dataclass(frozen=True)
class Captured:
    """What is left when all questions have been asked, for those that follow when the broker is started again."""

    recorder: GroupRecorder
    members: restart.Members


def capture(bootstrap: str, output: TextIO) -> Captured:
    """Ask the broker at "host:port", which must be fresh and have GROUP_CONFIG; lines go to output."""
    recorder = GroupRecorder(bootstrap, output)
    recorder.create_topic(offsets.TOPIC, offsets.PARTITION_COUNT)
    recorder.create_topic("group-other")
    for scene, play in SCENES.items():
        recorder.scene = scene
        play(recorder)
        recorder.close_others()
    recorder.scene = "before the end"
    kept = restart.before(recorder)
    recorder.close_others()
    recorder.connection.close()
    return Captured(recorder, kept)


def capture_again(bootstrap: str, output: TextIO, captured: Captured) -> None:
    """Ask the same broker when it was started again, maybe at another address."""
    recorder = GroupRecorder(bootstrap, output, normal_form=captured.recorder.normal_form)
    recorder.topic_ids = captured.recorder.topic_ids
    recorder.scene = "started again"
    recorder.expect_coordinator(0, "kept-stable")
    # Kafka answers NOT_COORDINATOR and COORDINATOR_LOAD_IN_PROGRESS before it has them.
    recorder.expect_that(lambda: recorder.describe("kept-stable").error_code == 0, "groups to be loaded")
    restart.after(recorder, captured.members)
    recorder.connection.close()


def main() -> None:
    """Ask a real Kafka."""
    with tempfile.TemporaryDirectory() as folder, GOLDEN.open("w") as output:
        data = Path(folder) / "data"
        with kafka_process(Path(folder) / "first.log", GROUP_CONFIG, data) as kafka:
            captured = capture(kafka.address, output)
        shutil.copy(data / SEGMENT, GOLDEN_LOG)
        with kafka_process(Path(folder) / "second.log", GROUP_CONFIG, data) as kafka:
            capture_again(kafka.address, output, captured)


if __name__ == "__main__":
    main()
