"""The OpenAPI description: it is valid and has exactly the served paths."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any, cast
from unittest.mock import Mock

import pytest
import schemathesis
from starlette.routing import Route

from fauxka.admin.application import make_application
from fauxka.admin.errors import ErrorBody, WaitTimedOut
from fauxka.admin.openapi import describe
from fauxka.admin.openapi_examples import BODIES
from fauxka.admin.operations.all_operations import OPERATIONS
from fauxka.admin.page_files import page_routes
from fauxka.faults.files.file_rules import FileRule, check_file_rule
from fauxka.faults.rules.fault_rules import FaultRule
from fauxka.faults.rules.rule_checks import ACTIONS_AT, check_rule
from fauxka.faults.strict_json import convert

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


def test_description_is_not_changed_by_those_who_got_it(description: dict[str, Any]) -> None:
    body = description["paths"]["/v1/rules"]["post"]["requestBody"]["content"]["application/json"]

    body["example"]["match"].clear()

    assert describe(OPERATIONS)["paths"] != description["paths"]


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

    served = {route.path for route in application.routes if isinstance(route, Route)}
    assert served - {route.path for route in page_routes()} == set(description["paths"])


def operations_of(description: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{method.upper()} {path}", operation)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    ]


def test_every_body_has_an_example_that_its_model_accepts(description: dict[str, Any]) -> None:
    models = {
        f"{operation.method} {operation.path}": operation.body_type or operation.form_type for operation in OPERATIONS
    }
    bodies = {
        name: next(iter(operation["requestBody"]["content"].values()))
        for name, operation in operations_of(description)
        if "requestBody" in operation
    }

    assert {name for name, model in models.items() if model is not None} == bodies.keys()
    assert {name for name, body in bodies.items() if "example" not in body} == set()
    for name, body in bodies.items():
        convert(body["example"], cast("type[object]", models[name]))


def test_example_of_a_rule_is_a_valid_rule() -> None:
    check_rule(convert(BODIES["POST /v1/rules"], FaultRule))
    check_file_rule(convert(BODIES["POST /v1/files"], FileRule))


def test_every_error_has_examples_that_its_model_accepts(description: dict[str, Any]) -> None:
    errors = [
        (name, status, response["content"]["application/json"])
        for name, operation in operations_of(description)
        for status, response in operation["responses"].items()
        if int(status) >= 400
    ]

    assert [(name, status) for name, status, content in errors if not content["examples"]] == []
    for _, status, content in errors:
        for example in content["examples"].values():
            is_wait = status == "408" and "hits" in example["value"]
            model: type[WaitTimedOut | ErrorBody] = WaitTimedOut if is_wait else ErrorBody
            assert convert(example["value"], model).error.message


def test_example_of_a_400_is_the_error_for_a_misspelled_name(description: dict[str, Any]) -> None:
    responses = description["paths"]["/v1/reset"]["post"]["responses"]

    error = responses["400"]["content"]["application/json"]["examples"]["invalid"]["value"]["error"]
    assert error["message"] == "scop is not a known field; allowed: the fields scope; did you mean scope?"


def test_examples_of_a_404_name_what_is_unknown(description: dict[str, Any]) -> None:
    messages = {
        name: operation["responses"]["404"]["content"]["application/json"]["examples"]["error"]["value"]["error"][
            "message"
        ]
        for name, operation in operations_of(description)
        if "404" in operation["responses"]
    }

    assert messages["GET /v1/rules/{id}"] == "there is no rule 7"
    assert messages["POST /v1/crash"] == "there is no node 7"


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


def test_actions_of_rules_name_their_points(description: dict[str, Any]) -> None:
    schemas = description["components"]["schemas"]
    kinds = schemas["FaultRule"]["properties"]["action"]["discriminator"]["mapping"]
    points = {kind: schemas[reference.rpartition("/")[2]]["x-points"] for kind, reference in kinds.items()}

    assert points["deliver_twice"] == ["received"]
    assert points["drip"] == ["accepted", "answering"]
    assert set(points) == set().union(*ACTIONS_AT.values())
