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
from ..shape import FRANZ_GO, Shape
from ..world import COPIES, ORDERS, World, fill

_FOLDER = Path(__file__).parent.parent / "go"
_BINARY = Path.home() / ".cache" / "fauxka" / "family-go"
# A program gives up before that.
_SECONDS_MAX = 20


@cache
def binary() -> Path:
    """Return the compiled program; Go compiles what has changed since the last time."""
    _BINARY.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["go", "build", "-o", str(_BINARY), "."], cwd=_FOLDER, check=True)
    return _BINARY


def _running(name: str) -> Callable[[World], None]:
    """Return what runs the program of this shape. It raises Failed if that ends with an error."""

    def run(world: World) -> None:
        defect = "none" if world.defect is None else world.defect.name
        address = {"KAFKA_BOOTSTRAP_SERVERS": world.broker.bootstrap_servers}
        try:
            ended = subprocess.run(
                [str(binary()), name, defect],
                env=os.environ | address,
                capture_output=True,
                text=True,
                timeout=_SECONDS_MAX,
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
