"""Finds, reads and checks scenario files; errors name the file and the place."""

from __future__ import annotations

import re
import tomllib
from importlib import resources
from typing import Annotated, Any

import msgspec

from ..broker.lifecycle.node_options import NODES_MAX
from ..protocol.sequences import MAX_SEQUENCE
from ..protocol.similar_names import unknown_name
from .scenario import Expectation, Scenario
from .steps import Acks, AnyStep, Batch, Consume, Mechanism, Send

_PACKAGE = __name__.rpartition(".")[0]
_FOLDER = "data"
_SUFFIX = ".toml"
_SEQUENCES = re.compile(r"(\d+)\.\.(\d+)")

NodeCount = Annotated[int, msgspec.Meta(ge=1, le=NODES_MAX)]


class UnknownScenario(LookupError):
    """No scenario has that name; the message lists the names."""


class ScenarioFileError(Exception):
    """A scenario file is invalid."""


class _File(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The fields of a file: those of Scenario, with the batches as text."""

    title: str
    story: str
    batches: dict[str, str] = {}
    steps: list[AnyStep]
    expect: list[Expectation]
    unable: dict[str, str] = {}
    versions: str = "0.11..4.5"
    partitions: int = 1
    idempotent: bool = True
    in_flight: bool = False
    delivery_ms: int | None = None
    request_ms: int | None = None
    on_disk: bool = False
    transactional_id: str | None = None
    acks: Acks = "all"
    nodes: NodeCount = 1
    tls: bool = False
    topic_config: dict[str, str] = {}
    login: Mechanism | None = None
    token_ms: Annotated[int, msgspec.Meta(ge=1)] | None = None
    broker_config: dict[str, str] = {}
    allowed: list[str] = []


def scenario_names() -> list[str]:
    """Return the names of all scenarios, sorted."""
    folder = resources.files(_PACKAGE) / _FOLDER
    return sorted(file.name.removesuffix(_SUFFIX) for file in folder.iterdir() if file.name.endswith(_SUFFIX))


def load_scenario(name: str) -> Scenario:
    """Return a scenario. Raises UnknownScenario."""
    names = scenario_names()
    if name not in names:
        raise UnknownScenario(unknown_name("scenario", name, names))
    text = (resources.files(_PACKAGE) / _FOLDER / f"{name}{_SUFFIX}").read_text(encoding="utf-8")
    return parse_scenario(name, text)


def parse_scenario(name: str, text: str) -> Scenario:
    """Return the scenario of a file's text. Raises ScenarioFileError."""
    try:
        file = msgspec.convert(tomllib.loads(text), _File)
        batches = {batch: batch_of(batch, sequences) for batch, sequences in file.batches.items()}
        if file.on_disk and file.nodes > 1:
            raise ValueError(f"on_disk runs one node, not {file.nodes}")
        _check_security(file)
    except (ValueError, msgspec.ValidationError) as error:
        raise ScenarioFileError(f"{name}{_SUFFIX}: {error}") from error
    values: dict[str, Any] = {field: getattr(file, field) for field in _File.__struct_fields__ if field != "batches"}
    scenario = Scenario(name=name, batches=batches, **values)
    _check_names(scenario)
    return scenario


def _check_security(file: _File) -> None:
    """Raise ValueError for fields that do not fit together."""
    if file.tls and (file.on_disk or file.nodes > 1):
        raise ValueError("tls runs one node, without on_disk")
    if file.tls and file.login is not None:
        raise ValueError("tls runs without a login")
    if file.login is not None and (file.on_disk or file.nodes > 1):
        raise ValueError("login runs one node in memory")
    if file.login is None and (file.allowed or file.broker_config):
        raise ValueError("allowed and broker_config need a login")
    if file.token_ms is not None and file.login != "OAUTHBEARER":
        raise ValueError(f"token_ms {file.token_ms} needs the login OAUTHBEARER, and not {file.login or 'none'}")


def batch_of(name: str, sequences: str) -> Batch:
    """Return a batch from text such as "114..120"; raises ValueError."""
    found = _SEQUENCES.fullmatch(sequences)
    if found is None:
        raise ValueError(f"batch {name}: expected sequences like 114..120, got {sequences!r}")
    first, last = int(found[1]), int(found[2])
    if max(first, last) > MAX_SEQUENCE:
        raise ValueError(f"batch {name}: the greatest sequence is {MAX_SEQUENCE}")
    return Batch(name, first, last)


def _check_names(scenario: Scenario) -> None:
    for step in scenario.steps:
        if isinstance(step, Send | Consume):
            unknown = set(step.batches) - scenario.batches.keys()
            if unknown:
                raise ScenarioFileError(f"{scenario.name}{_SUFFIX}: unknown batch {', '.join(sorted(unknown))}")
