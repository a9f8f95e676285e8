"""The interface by which the admin API lists and runs scenarios; the scenarios package implements it."""

from __future__ import annotations

from typing import Any, Protocol

from msgspec import Struct


class ScenarioInfo(Struct, kw_only=True):
    """A scenario. unable: clients that cannot run it, each with the reason."""

    name: str
    title: str
    story: str
    versions: str
    unable: dict[str, str]


class UnknownScenarioName(Exception):
    """There is no scenario with this name."""


class ScenarioImpossible(Exception):
    """The scenario cannot run with this client, or it failed. The message is one line for the user."""


class Scenarios(Protocol):
    """Lists and runs scenarios."""

    def list_all(self) -> list[ScenarioInfo]:
        """Return all scenarios, sorted by name."""
        ...

    def run(self, name: str, client: str | None, as_version: str | None) -> dict[str, Any]:
        """Run a scenario on its own broker and return its report. Blocks for seconds.

        client: None for the default, the raw client or that of Spark.
        as_version: the Kafka version whose producer rules apply, already checked.
        Raises UnknownScenarioName, ScenarioImpossible.
        """
        ...
