"""The API under drawn calls, valid and not: no fault of ours, answers as described, and a broker that still serves."""

# schemathesis says of little what type it has.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUntypedFunctionDecorator=false
# pyright: reportUnknownArgumentType=false

from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case
from schemathesis.checks import CheckFunction, not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from fauxka.admin.openapi import describe
from fauxka.admin.operations import OPERATIONS

from ..broker.wire_connection import still_serves
from ..serving_process import Serving
from .admin_client import AdminClient

CHECKS: list[CheckFunction] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
# Drawn for each operation, beside those that try each keyword of its schema.
CALLS = 10
# Waits are cut to this: nothing hits what they wait for.
WAIT_MS_MAX = 20
ANSWER_SECONDS_MAX = 10


schema = schemathesis.openapi.from_dict(describe(OPERATIONS))


def made_harmless(case: Case[Any], folder: Path) -> None:
    """Cut what the call waits for, and keep it from writing anywhere but into the folder."""
    query: dict[str, Any] = case.query or {}
    if isinstance(query.get("timeout_ms"), int):
        query["timeout_ms"] = min(query["timeout_ms"], WAIT_MS_MAX)
    if isinstance(case.body, dict) and "timeout" in case.body:
        case.body["timeout"] = "20ms"
    if isinstance(case.body, dict) and isinstance(case.body.get("dir"), str):
        case.body["dir"] = str(folder / "export")


@schema.parametrize()
@settings(
    max_examples=CALLS, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_any_call_is_answered_as_described(case: Case[Any], broker: Serving, tmp_path: Path) -> None:
    made_harmless(case, tmp_path)

    response = case.call(base_url=broker.admin, timeout=ANSWER_SECONDS_MAX)
    case.validate_response(response, checks=CHECKS)


def test_broker_still_serves_after_all_of_them(broker: Serving) -> None:
    assert broker.admin is not None
    admin = AdminClient(broker.admin)
    admin.call("POST", "/v1/restart", {})
    admin.delete("/v1/rules")
    admin.delete("/v1/files")

    assert still_serves(broker.bootstrap)
