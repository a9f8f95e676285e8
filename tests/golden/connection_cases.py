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


def write_lines(
    cases: Iterable[ConnectionCase],
    connect: Callable[[ConnectionCase], SaslClient],
    output: TextIO,
    parallel_cases: int = PARALLEL_CASES,
) -> None:
    """Run every case, so many at the same time, and write a line of each. connect: returns the client of a case."""

    def run(case: ConnectionCase) -> dict[str, Json]:
        client = connect(case)
        case.step(client)
        end = client.close()
        return {"case": case.name, "listener": case.listener, "steps": client.steps, "end": end}

    with ThreadPoolExecutor(parallel_cases) as pool:
        for line in pool.map(run, cases):
            output.write(json.dumps(line, ensure_ascii=False) + "\n")


def connector(addresses: Addresses) -> Callable[[ConnectionCase], SaslClient]:
    """Return what connects to the listener of a case. addresses: of the listeners."""
    return lambda case: SaslClient(addresses, case.listener)


def metadata(client: SaslClient) -> None:
    """Send a Metadata."""
    client.metadata()


def wait(seconds: float) -> Step:
    """Return the step that waits."""
    return lambda client: client.wait(seconds)
