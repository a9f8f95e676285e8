"""Rules for every call of the admin API."""

import http.client

import pytest

from fauxka.admin.application import BODY_BYTES_MAX

from .admin_client import AdminClient

RULE = {"point": "applied", "action": {"kind": "close"}}


def test_unknown_path_is_404(admin: AdminClient) -> None:
    answer = admin.call("GET", "/v1/nothing")

    assert answer.status == 404
    assert answer.error["message"] == "there is no GET /v1/nothing"


def test_unsupported_method_is_405_with_the_supported_ones(admin: AdminClient) -> None:
    answer = admin.call("PATCH", "/v1/rules")

    assert answer.status == 405
    assert {method.strip() for method in answer.headers["allow"].split(",")} >= {"GET", "POST", "DELETE"}


def test_invalid_json_is_400(admin: AdminClient) -> None:
    answer = admin.call("POST", "/v1/rules", b"{")

    assert (answer.status, answer.error["field"]) == (400, "")


def test_missing_body_is_400(admin: AdminClient) -> None:
    assert admin.call("POST", "/v1/rules").status == 400


def test_unexpected_body_is_400(admin: AdminClient) -> None:
    answer = admin.call("DELETE", "/v1/rules", {"all": True})

    assert (answer.status, answer.error["allowed"]) == (400, "no body")


def test_empty_object_counts_as_no_body(admin: AdminClient) -> None:
    assert admin.call("DELETE", "/v1/rules", {}).status == 200


def test_unknown_field_is_400_and_named_with_the_allowed_ones(admin: AdminClient) -> None:
    answer = admin.call("POST", "/v1/rules", {**RULE, "match": {"topics": "orders"}})

    assert answer.status == 400
    assert answer.error["field"] == "match.topics"
    assert answer.error["value"] == "orders"
    assert "topic" in answer.error["allowed"]


def test_wrong_type_is_400_and_named_with_the_allowed_types(admin: AdminClient) -> None:
    answer = admin.call("POST", "/v1/rules", {**RULE, "match": {"partition": "x"}})

    assert answer.status == 400
    assert (answer.error["field"], answer.error["value"]) == ("match.partition", "x")
    assert answer.error["allowed"].startswith("integer >= 0")


def test_unknown_parameter_is_400(admin: AdminClient) -> None:
    answer = admin.call("GET", "/v1/rules", topic="orders")

    assert (answer.status, answer.error["field"], answer.error["value"]) == (400, "topic", "orders")


def test_unexpected_parameter_is_400(admin: AdminClient) -> None:
    answer = admin.call("GET", "/version", x=1)

    assert (answer.status, answer.error["field"]) == (400, "x")


def test_parameter_given_twice_is_400(admin: AdminClient) -> None:
    answer = admin.call("GET", "/v1/rules?limit=1&limit=2")

    assert (answer.status, answer.error["field"], answer.error["allowed"]) == (400, "limit", "one value")


@pytest.mark.parametrize("value", ["-1", "x", "", "1.5", "99999999999999999999"])
def test_invalid_parameter_is_400(admin: AdminClient, value: str) -> None:
    answer = admin.call("GET", "/v1/rules", since=value)

    assert (answer.status, answer.error["field"], answer.error["value"]) == (400, "since", value)


def test_non_numeric_id_is_400(admin: AdminClient) -> None:
    answer = admin.call("DELETE", "/v1/snapshot/first")

    assert (answer.status, answer.error["field"], answer.error["value"]) == (400, "id", "first")


def test_announced_body_above_the_limit_is_413(admin: AdminClient) -> None:
    connection = http.client.HTTPConnection(admin.address, timeout=10)
    connection.putrequest("POST", "/v1/rules")
    connection.putheader("Content-Length", str(BODY_BYTES_MAX + 1))
    connection.endheaders()

    status = connection.getresponse().status
    connection.close()

    assert status == 413


def test_chunked_body_above_the_limit_is_413(admin: AdminClient) -> None:
    connection = http.client.HTTPConnection(admin.address, timeout=10)
    chunks = (b" " * 65536 for _ in range(BODY_BYTES_MAX // 65536 + 1))
    connection.request("POST", "/v1/rules", chunks, encode_chunked=True)

    status = connection.getresponse().status
    connection.close()

    assert status == 413


def test_answers_are_json(admin: AdminClient) -> None:
    for path in ("/healthz", "/v1/rules", "/v1/nothing"):
        assert admin.call("GET", path).headers["content-type"] == "application/json"
