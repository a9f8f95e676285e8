"""What a real Kafka makes of listener_settings: refused with which message, or which addresses and clients it accepts.

python -m tests.golden.regenerate listener_settings. One process starts a broker for each setting, one after the other.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO

from ..reference.kafka_process import free_ports, reference_jars
from .listener_settings import SETTINGS
from .store_brokers import write_stores

PORT_COUNT = 5
# The addresses that ListenerSettings.java connects to.
LOOPBACK = ("127.0.0.1", "127.0.0.2", "::1")
PROGRAM = Path(__file__).parent / "ListenerSettings.java"
COMBINED_NODE = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.quorum.voters": "1@127.0.0.1:{controller}",
    "controller.listener.names": "CONTROLLER",
}


class Places:
    """The ports and the folder of one run, and their names in the capture."""

    def __init__(self, folder: Path) -> None:
        """folder: where the stores are written."""
        self._folder = folder
        write_stores(folder)
        first = free_ports(PORT_COUNT)
        self._ports = {"{controller}": str(first), **{f"{{{n}}}": str(first + n) for n in range(1, PORT_COUNT)}}

    def filled(self, entries: Mapping[str, str]) -> dict[str, str]:
        """Return the entries with ports and folder in place of their names."""
        return {key: self._with_places(value) for key, value in entries.items()}

    def named(self, line: str) -> str:
        """Return a line with names in place of ports and folder."""
        for name, port in self._ports.items():
            line = line.replace(port, name)
        return line.replace(str(self._folder), "{stores}")

    def _with_places(self, value: str) -> str:
        for name, port in self._ports.items():
            value = value.replace(name, port)
        return value.replace("{stores}", str(self._folder))


def capture(output: TextIO) -> None:
    """Write a line of each setting."""
    with TemporaryDirectory() as folder:
        places = Places(Path(folder))
        for case, outcome in zip(SETTINGS, _outcomes(places, folder), strict=True):
            print(json.dumps({"case": case, **outcome}), file=output)


def _outcomes(places: Places, folder: str) -> Iterator[dict[str, Any]]:
    lines = "".join(json.dumps(places.filled(entries_of_kafka(entries))) + "\n" for entries in SETTINGS.values())
    command = ["java", "-cp", f"{reference_jars()}/*", str(PROGRAM), folder]
    with Path(folder, "java.log").open("w") as log:
        program = subprocess.run(command, input=lines, check=True, stdout=subprocess.PIPE, stderr=log, text=True)
    for line in program.stdout.splitlines():
        yield json.loads(places.named(line))


def entries_of_kafka(entries: Mapping[str, str]) -> dict[str, str]:
    """Return the entries with what Kafka needs beyond them."""
    listeners = f"{entries['listeners'].rstrip(',')},CONTROLLER://127.0.0.1:{{controller}}"
    trailing = "," if entries["listeners"].endswith(",") else ""
    return {**COMBINED_NODE, **entries, "listeners": listeners + trailing}
