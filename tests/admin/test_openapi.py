"""The OpenAPI description: it is valid and has exactly the served paths."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import schemathesis
from starlette.routing import Route

from fauxka.admin.application import make_application
from fauxka.admin.openapi import describe
from fauxka.admin.operations.all_operations import OPERATIONS

from ..serving_process import serving
from .admin_client import AdminClient

METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH")


@pytest.fixture
def description() -> dict[str, Any]:
    return describe(OPERATIONS)


def references(description: dict[str, Any]) -> set[str]:
    """Yield every referenced schema."""
    return set(re.findall(r'"\$ref": "([^"]+)"', json.dumps(description)))


def test_description_is_served(admin: AdminClient, description: dict[str, Any]) -> None:
    assert admin.get("/openapi.json") == description


def test_description_is_openapi_3_1(description: dict[str, Any]) -> None:
    assert description["openapi"] == "3.1.0"

    schemathesis.openapi.from_dict(description).validate()


def test_validator_rejects_an_invalid_description(description: dict[str, Any]) -> None:
    del description["info"]["version"]

    with pytest.raises(Exception, match="version"):
        schemathesis.openapi.from_dict(description).validate()


def test_every_referenced_schema_exists(description: dict[str, Any]) -> None:
    schemas = description["components"]["schemas"]

    assert references(description) <= {f"#/components/schemas/{name}" for name in schemas}


def test_every_operation_has_a_summary(description: dict[str, Any]) -> None:
    summaries = [operation["summary"] for path in description["paths"].values() for operation in path.values()]
    ids = [operation["operationId"] for path in description["paths"].values() for operation in path.values()]

    assert all(summary.endswith(".") for summary in summaries)
    assert len(set(ids)) == len(ids)


def test_described_path_has_exactly_the_described_methods(description: dict[str, Any], tmp_path: Path) -> None:
    with serving(tmp_path, "--admin-port", "0", "--admin-token", "secret") as broker:
        assert broker.admin is not None
        admin = AdminClient(broker.admin)
        # A call without a token is refused by its operation, before anything is done.
        taken = {
            (path, method)
            for path in description["paths"]
            for method in METHODS
            if admin.call(method, path.replace("{", "").replace("}", "")).status in (200, 401)
        }

    assert taken == {
        (path, method.upper()) for path, operations in description["paths"].items() for method in operations
    }


def test_served_path_is_described(description: dict[str, Any]) -> None:
    application = make_application(Mock(), OPERATIONS, token=None, stopping=asyncio.Event())

    assert {route.path for route in application.routes if isinstance(route, Route)} == set(description["paths"])


def test_wait_and_unfinished_request_have_their_own_408(description: dict[str, Any]) -> None:
    waiting = description["paths"]["/v1/rules/{id}/await"]["get"]["responses"]["408"]
    other = description["paths"]["/v1/rules"]["get"]["responses"]["408"]

    assert [
        schema["$ref"].rpartition("/")[2] for schema in waiting["content"]["application/json"]["schema"]["anyOf"]
    ] == [
        "WaitTimedOut",
        "ErrorBody",
    ]
    assert other["content"]["application/json"]["schema"]["$ref"].endswith("/ErrorBody")
