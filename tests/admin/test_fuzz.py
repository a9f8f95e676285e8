"""The API under drawn calls, valid and not: no fault of ours, answers as described, and a broker that still serves.

schemathesis' own test function would try every keyword of every schema, and make all these calls when tests are
collected. `schemathesis run URL/openapi.json` does so with a broker that runs.
"""

# schemathesis says of little what type it has.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy
from msgspec import inspect
from schemathesis import Case, GenerationMode
from schemathesis.checks import CheckFunction, not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from fauxka.admin.openapi import describe
from fauxka.admin.operation import Operation
from fauxka.admin.operations.all_operations import OPERATIONS

from ..run_counts import count
from ..serving_process import Serving
from ..wire.wire_connection import still_serves
from .admin_client import AdminClient

pytestmark = [pytest.mark.fuzz, pytest.mark.slice]

CHECKS: list[CheckFunction] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
# Of each operation, and of each kind: as described, and not.
CALLS = count(12, in_slice=4)
# Waits are cut to this: nothing hits what they wait for.
WAIT_MS_MAX = 20
EVENTS = "/v1/events"
ANSWER_SECONDS_MAX = 10

SLOW_CASES = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


def can_be_wrong(operation: Operation) -> bool:
    """Whether there is a call of it that is not as described: any text in a path is, but for none at all."""
    path = inspect.type_info(operation.path_type) if operation.path_type else None
    is_any_path_right = not isinstance(path, inspect.StructType) or all(
        isinstance(field.type, inspect.StrType) for field in path.fields
    )
    return not is_any_path_right or operation.query_type is not None or operation.body_type is not None


TAKES_ANYTHING = [operation for operation in OPERATIONS if can_be_wrong(operation)]


def name_of(operation: Operation) -> str:
    return f"{operation.method} {operation.path}"


@pytest.fixture(scope="module")
def schema() -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_dict(describe(OPERATIONS))


def made_short(case: Case[Any]) -> None:
    """Cut what the call waits for."""
    query: dict[str, Any] = case.query or {}
    if isinstance(query.get("timeout_ms"), int):
        query["timeout_ms"] = min(query["timeout_ms"], WAIT_MS_MAX)
    elif case.path == EVENTS:
        # A stream without a timeout has no end.
        case.query = {**query, "timeout_ms": WAIT_MS_MAX}
    if isinstance(case.body, dict) and "timeout" in case.body:
        case.body["timeout"] = "20ms"


def call_all(cases: SearchStrategy[Case[Any]], broker: Serving) -> None:
    """Make some of the calls, and check each answer."""

    @given(case=cases)
    @settings(max_examples=CALLS, deadline=None, derandomize=True, suppress_health_check=SLOW_CASES)
    def call(case: Case[Any]) -> None:
        made_short(case)
        response = case.call(base_url=broker.admin, timeout=ANSWER_SECONDS_MAX)
        case.validate_response(response, checks=CHECKS)

    call()


@pytest.mark.parametrize("operation", OPERATIONS, ids=name_of)
def test_valid_call_has_a_described_response(
    operation: Operation, schema: schemathesis.BaseSchema, broker: Serving
) -> None:
    cases = schema[operation.path][operation.method].as_strategy(generation_mode=GenerationMode.POSITIVE)

    call_all(cases, broker)


@pytest.mark.parametrize("operation", TAKES_ANYTHING, ids=name_of)
def test_invalid_call_has_a_described_response(
    operation: Operation, schema: schemathesis.BaseSchema, broker: Serving
) -> None:
    cases = schema[operation.path][operation.method].as_strategy(generation_mode=GenerationMode.NEGATIVE)

    call_all(cases, broker)


def test_broker_serves_after_all_calls(broker: Serving) -> None:
    assert broker.admin is not None
    admin = AdminClient(broker.admin)
    admin.call("POST", "/v1/restart", {})
    admin.delete("/v1/rules")
    admin.delete("/v1/files")

    assert still_serves(broker.bootstrap)
