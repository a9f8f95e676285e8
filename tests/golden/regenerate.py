"""Writes golden files anew from a real Kafka: python -m tests.golden.regenerate [NAME ...], all without a name.

Each program gets a broker of its own, since it needs a fresh one; about ten seconds each.
"""

import sys
import tempfile
from pathlib import Path

from ..reference.kafka_process import running_kafka
from .capture_recorder import Recorder
from .captures import CAPTURES, golden_file


def regenerate(name: str, target: Path) -> None:
    """Run the program of that name against a fresh Kafka and write its lines to target."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_kafka(Path(folder) / "kafka.log") as bootstrap,
        target.open("w") as output,
    ):
        recorder = Recorder(bootstrap, output)
        CAPTURES[name](recorder)
        recorder.connection.close()


def main() -> None:
    """Regenerate the files named on the command line."""
    names = sys.argv[1:] or list(CAPTURES)
    unknown = sorted(set(names) - CAPTURES.keys())
    if unknown:
        raise SystemExit(f"no golden file called {', '.join(unknown)}; there are {', '.join(CAPTURES)}")
    for name in names:
        regenerate(name, golden_file(name))
        print(f"{golden_file(name).name}: {len(golden_file(name).read_text().splitlines())} cases")


if __name__ == "__main__":
    main()
