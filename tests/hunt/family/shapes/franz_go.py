"""Programs with franz-go: go/main.go has their shapes, each start is a process."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

from fauxka.testing.hunting.arguments import How

from ..clients.client import Failed
from ..defect import Defect
from ..runtime import defect_of, seconds_of
from ..shape import FRANZ_GO, Shape
from ..world import COPIES, ORDERS, World, fill

_FOLDER = Path(__file__).parent.parent / "go"
_BINARY = Path.home() / ".cache" / "fauxka" / "family-go"


@cache
def binary() -> Path:
    """Return the compiled program; Go compiles what has changed since the last time."""
    _BINARY.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["go", "build", "-o", str(_BINARY), "."], cwd=_FOLDER, check=True)
    return _BINARY


def _running(name: str) -> Callable[[World], None]:
    """Return what runs the program of this shape. It raises Failed if that ends with an error."""

    def run(world: World) -> None:
        address = world.broker.bootstrap_servers
        variables = {"KAFKA_BOOTSTRAP_SERVERS": address, "FAMILY_CONFIGURATION": world.configuration}
        try:
            ended = subprocess.run(
                [str(binary()), name, defect_of(world)],
                env=os.environ | variables,
                capture_output=True,
                text=True,
                timeout=seconds_of(world),
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise Failed(error) from error
        if ended.returncode:
            raise Failed(ended.stderr.strip())

    return run


PRODUCER = Shape(
    "plain producer",
    "at-least-once",
    _running("producer"),
    How(topics=[ORDERS], seed_topics={ORDERS: 1}),
    (Defect.REPORT_IGNORED, Defect.FLUSH_RESULT_IGNORED, Defect.NO_FLUSH, Defect.ACKS_0),
    [FRANZ_GO],
)
SYNC_PRODUCER = Shape(
    "idempotent producer",
    "exactly-once",
    _running("sync producer"),
    How(topics=[ORDERS], seed_topics={ORDERS: 1}),
    (Defect.ERROR_SWALLOWED, Defect.NOT_IDEMPOTENT, Defect.NEW_PRODUCER),
    [FRANZ_GO],
)
COPIER = Shape(
    "copier",
    "at-least-once",
    _running("copier"),
    How(topics=[COPIES], seed_topics={COPIES: 1}, restarts=1, prepare=fill),
    (Defect.COMMIT_BEFORE, Defect.ERROR_SWALLOWED, Defect.POISON_SKIPPED),
    [FRANZ_GO],
)
