"""Writes the reports of a failed test: one HTML file for each of its brokers."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

from .async_broker import AsyncBroker
from .broker import Broker
from .remote_broker import AsyncRemoteBroker, RemoteBroker

Result = TypeVar("Result")
AnyBroker = Broker | AsyncBroker | RemoteBroker | AsyncRemoteBroker

# File systems allow 255 bytes for a name, and a second broker adds a number.
NAME_CHARACTERS_MAX = 150
# An id is a path, names and parameters. What else it has could give two tests the same name.
_PLAIN = re.compile(r"[\w./:-]+(\[[\w.-]+\])?", re.ASCII)
_UNSAFE = re.compile(r"[^\w.-]+", re.ASCII)


def write_reports(fixtures: Iterable[object], folder: Path, node_id: str, since: Mapping[int, int]) -> list[str]:
    """Write a report for each broker among the values of a test's fixtures. Return the paths, and the errors.

    node_id: of the test. since: the last id of a broker's journal before the test, by id().
    """
    found = {id(value): value for value in fixtures if isinstance(value, AnyBroker)}
    lines: list[str] = []
    for number, (key, broker) in enumerate(found.items()):
        path = folder / f"{file_name_of(node_id)}{f'-{number + 1}' if number else ''}.html"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lines.append(str(_written(broker, path, node_id, since.get(key, 0))))
        except Exception as error:
            lines.append(f"{path} is not written, {type(error).__name__}: {' '.join(str(error).split())}")
    return lines


def _written(broker: AnyBroker, path: Path, title: str, since: int) -> Path:
    """Write the report of a broker, and return its path."""
    if isinstance(broker, Broker | RemoteBroker):
        return broker.write_report(path, title, since=since)
    writing = broker.write_report(path, title, since=since)
    return _drive(writing) if isinstance(broker, AsyncBroker) else asyncio.run(writing)


def _drive(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine that waits for nothing, but lets others run: its event loop may have ended.

    What it would run in a thread, as long work does, is called.
    """
    answer: object = None
    while True:
        try:
            step: object = coroutine.send(answer)
            answer = step() if callable(step) else None
        except StopIteration as end:
            return cast("Result", end.value)


def file_name_of(node_id: str) -> str:
    """Return the name of a file without its ending: letters, digits, dots, underscores and hyphens."""
    name = _UNSAFE.sub("-", node_id.replace("::", ".").replace("/", ".")).strip("-.")
    if _PLAIN.fullmatch(node_id) and len(name) <= NAME_CHARACTERS_MAX:
        return name
    digest = sha256(node_id.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{name[:NAME_CHARACTERS_MAX]}-{digest}".lstrip("-")
