"""Cases of one connection each, and the steps of which they are made.

They run side by side, because many wait. `end` of a line says whether the connection is open after the last step.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TextIO, TypeAlias

from .case_recorder import Json
from .sasl_client import Addresses, SaslClient

PARALLEL_CASES = 8

Step: TypeAlias = Callable[[SaslClient], None]


class ConnectionCase(NamedTuple):
    """What a client of a listener does."""

    name: str
    listener: str
    step: Step


def write_lines(cases: Iterable[ConnectionCase], addresses: Addresses, output: TextIO) -> None:
    """Run every case, and write a line of each. addresses: of the listeners."""

    def run(case: ConnectionCase) -> dict[str, Json]:
        client = SaslClient(addresses, case.listener)
        case.step(client)
        end = client.close()
        return {"case": case.name, "listener": case.listener, "steps": client.steps, "end": end}

    with ThreadPoolExecutor(PARALLEL_CASES) as pool:
        for line in pool.map(run, cases):
            output.write(json.dumps(line, ensure_ascii=False) + "\n")


def metadata(client: SaslClient) -> None:
    """Send a Metadata."""
    client.metadata()


def wait(seconds: float) -> Step:
    """Return the step that waits."""
    return lambda client: client.wait(seconds)
