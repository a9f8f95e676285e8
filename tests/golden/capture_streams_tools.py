"""What Kafka's tools print about streams groups: kafka-streams-groups, kafka-groups and kafka-features of 4.4.0.

python -m tests.golden.capture_streams_tools          writes the file from a real Kafka
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from ..clients.console_tools import ConsoleTools
from ..clients.java_program import JavaProgram
from ..reference.kafka_process import running_kafka
from .streams_tools.commands import features, groups
from .streams_tools.groups import CONFIG, GroupMaker, group_maker
from .streams_tools.tool_recorder import ToolRecorder

# Of the tools and of the broker.
KAFKA_VERSION = "4.4.0"
GOLDEN = Path(__file__).parent / f"streams_tools-{KAFKA_VERSION}.jsonl"

# Each needs a fresh broker.
SCENES: dict[str, Callable[[ToolRecorder, GroupMaker], None]] = {"groups": groups, "features": features}


def capture(scene: str, program: JavaProgram, bootstrap: str, output: TextIO) -> None:
    """Run the tools of a scene against the broker at "host:port"; lines go to output. program: a ToolRunner."""
    with group_maker(bootstrap) as maker:
        SCENES[scene](ToolRecorder(ConsoleTools(program, bootstrap), bootstrap, output), maker)


def capture_from_kafka(program: JavaProgram, output: TextIO) -> None:
    """Run the tools of all scenes, each against a fresh Kafka."""
    for scene in SCENES:
        with (
            tempfile.TemporaryDirectory() as folder,
            running_kafka(Path(folder) / "kafka.log", CONFIG, version=KAFKA_VERSION) as bootstrap,
        ):
            capture(scene, program, bootstrap, output)


def main() -> None:
    """Ask real Kafkas."""
    program = JavaProgram("ToolRunner", version=KAFKA_VERSION)
    with GOLDEN.open("w") as output:
        capture_from_kafka(program, output)
    program.close()


if __name__ == "__main__":
    main()
