"""Operations that list and run scenarios."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from ...faults.rule_error import InvalidValueError
from ...storage.producers.emulated_version import EmulatedVersion
from ..control import Control
from ..daemon_thread import run_in_daemon_thread
from ..errors import CallError, conflict, unknown
from ..operation import Operation
from ..scenarios import ScenarioImpossible, ScenarioInfo, Scenarios, UnknownScenarioName

TAG = "scenarios"

NAME_CHARACTERS_MAX = 100

Name = Annotated[str, Meta(min_length=1, max_length=NAME_CHARACTERS_MAX)]


class ScenarioList(Struct, kw_only=True):
    """All scenarios, sorted by name."""

    items: list[ScenarioInfo]
    next: str | None = None


class ScenarioPath(Struct, kw_only=True, forbid_unknown_fields=True):
    """The name of a scenario."""

    name: Name


class ScenarioRun(Struct, kw_only=True, forbid_unknown_fields=True):
    """Options of a run.

    client: `raw`, or a real client that is installed on the broker's machine; null for `raw`, or for Spark's own client
    in scenarios without another. as_version: the Kafka version whose
    producer rules apply, such as "2.4"; null for the newest.
    """

    client: Name | None = None
    as_version: Name | None = None


def list_scenarios(control: Control) -> ScenarioList:
    """List the scenarios."""
    return ScenarioList(items=_scenarios(control).list_all())


async def run_scenario(control: Control, path: ScenarioPath, body: ScenarioRun) -> dict[str, Any]:
    """Run a scenario on its own broker, and return its report: timeline, verdict and checks.

    A run takes seconds; only one runs at a time.
    """
    scenarios = _scenarios(control)
    _check_version(body.as_version)
    if control.is_running_scenario:
        raise conflict("another scenario is running")
    control.is_running_scenario = True
    try:
        return await run_in_daemon_thread(
            "fauxka-scenario", lambda: scenarios.run(path.name, body.client, body.as_version)
        )
    except UnknownScenarioName as error:
        raise unknown("scenario", path.name, field="name") from error
    except ScenarioImpossible as error:
        raise conflict(str(error)) from error
    finally:
        control.is_running_scenario = False


def _check_version(text: str | None) -> None:
    try:
        if text is not None:
            EmulatedVersion.parse(text)
    except ValueError as error:
        raise InvalidValueError("as_version", text, "a version of Kafka such as 2.4", str(error)) from error


def _scenarios(control: Control) -> Scenarios:
    if control.scenarios is None:
        raise CallError(409, "this broker was started without scenarios")
    return control.scenarios


OPERATIONS = (
    Operation(method="GET", path="/v1/scenarios", perform=list_scenarios, tag=TAG, errors=(409,)),
    Operation(method="POST", path="/v1/scenarios/{name}/run", perform=run_scenario, tag=TAG, errors=(404, 409)),
)
