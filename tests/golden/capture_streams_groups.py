"""What a broker answers to streams groups (KIP-1071), and what it keeps of them.

python -m tests.golden.capture_streams_groups HOST:PORT VERSION > FILE   asks that broker, fresh and with CONFIG
python -m tests.golden.capture_streams_groups                            writes the files from real Kafkas
"""

import sys
import tempfile
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from ..reference.kafka_process import running_kafka
from .capture_groups import GROUP_CONFIG
from .streams_group_recorder import StreamsGroupNormalForm, StreamsGroupRecorder
from .streams_group_scenes import heartbeats, members, orders, topics

# Tasks are assigned at once, and scenes can wait for a session to end.
STREAMS_GROUP_CONFIG = {
    **GROUP_CONFIG,
    "group.streams.assignment.interval.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.streams.max.size": "4",
    "group.streams.min.heartbeat.interval.ms": "100",
    "group.streams.min.session.timeout.ms": "500",
}


@dataclass(frozen=True, slots=True)
class CapturedVersion:
    """A version of Kafka. heartbeats: the version of its heartbeats and descriptions.

    without: the scenes that it cannot have. config: of the broker.
    group_configs: set together with the configs of any group, by keys with underscores.
    """

    heartbeats: int
    without: Set[str] = frozenset()
    config: Mapping[str, str] = field(default_factory=lambda: STREAMS_GROUP_CONFIG)
    group_configs: Mapping[str, str] = field(default_factory=dict[str, str])


VERSIONS = {
    # It has no assignment interval. A group with configs has the default of the delay, whatever the broker's value is.
    "4.2.0": CapturedVersion(
        0,
        without={"back", "delayed", "descriptions"},
        config={
            key: value for key, value in STREAMS_GROUP_CONFIG.items() if not key.endswith("assignment.interval.ms")
        },
        group_configs={"streams_initial_rebalance_delay_ms": "0"},
    ),
    "4.3.0": CapturedVersion(0, without={"descriptions"}),
    "4.4.0": CapturedVersion(1),
}

SCENES: dict[str, Callable[[StreamsGroupRecorder], None]] = {
    "refused": heartbeats.refused,
    "life": heartbeats.life,
    "two": heartbeats.two,
    "threads": heartbeats.threads,
    "epochs": heartbeats.epochs,
    "full": heartbeats.full,
    "endpoints": heartbeats.endpoints,
    "shutdown": heartbeats.shutdown,
    "stale": heartbeats.stale,
    "task offsets": heartbeats.offsets_of_tasks,
    "tags": heartbeats.tags,
    "missing": topics.missing_sources,
    "internal": topics.internal,
    "wrong": topics.wrong_partitions,
    "failed": topics.failed_creation,
    "grown": topics.grown,
    "static": members.static,
    "late": members.timeouts,
    "delayed": members.delays,
    "protocols": members.other_protocols,
    "offsets": members.offsets,
    "many": members.unknown_topology,
    "order": orders.order_of_subtopologies,
    "twice": orders.contradictions,
    "both": orders.one_topic_for_two,
    "back": orders.comes_back,
    "place": orders.refused_place,
    "descriptions": topics.descriptions,
}


def golden_of(version: str) -> Path:
    """Return the file of a version of Kafka."""
    return Path(__file__).parent / f"streams_groups-{version}.jsonl"


def capture(bootstrap: str, output: TextIO, version: str, pass_ms: Callable[[int], object] | None = None) -> None:
    """Ask the broker at "host:port"; lines go to output. pass_ms: lets a time pass, where the clock can be advanced."""
    recorder = StreamsGroupRecorder(bootstrap, output, normal_form=StreamsGroupNormalForm(bootstrap))
    asked = VERSIONS[version]
    recorder.version, recorder.group_configs = asked.heartbeats, asked.group_configs
    if pass_ms is not None:
        recorder.pass_ms = pass_ms
    recorder.create_topic(heartbeats.SOURCE, heartbeats.SOURCE_PARTITIONS)
    recorder.create_topic(heartbeats.WIDE, heartbeats.WIDE_PARTITIONS)
    recorder.settle()
    recorder.expect_coordinator(0, "group")
    recorder.expect_loaded()
    for scene, play in SCENES.items():
        if scene not in asked.without:
            recorder.scene = scene
            play(recorder)
    recorder.connection.close()


def main() -> None:
    """Ask the broker that is named, or real Kafkas."""
    if len(sys.argv) > 1:
        capture(sys.argv[1], sys.stdout, sys.argv[2])
        return
    for version, asked in VERSIONS.items():
        with (
            tempfile.TemporaryDirectory() as folder,
            running_kafka(Path(folder) / "kafka.log", asked.config, version=version) as bootstrap,
            golden_of(version).open("w") as output,
        ):
            capture(bootstrap, output, version)


if __name__ == "__main__":
    main()
