"""The clock over HTTP."""

from collections.abc import Iterator

import pytest

from .admin_client import AdminClient

DAY_MS = 24 * 3600 * 1000


@pytest.fixture(autouse=True)
def goes_by_itself_again(admin: AdminClient) -> Iterator[None]:
    yield
    admin.post("/v1/clock", {"mode": "real"})


def test_clock_is_real_by_default(admin: AdminClient) -> None:
    assert admin.get("/v1/clock")["mode"] == "real"


def test_one_call_advances_eight_days(admin: AdminClient) -> None:
    before = admin.post("/v1/clock", {"mode": "manual"})

    after = admin.post("/v1/clock", {"advance_ms": 8 * DAY_MS})

    shown = {"mode": "manual", "now_ms": before["now_ms"] + 8 * DAY_MS, "skew_ms": 0}
    assert {name: after[name] for name in shown} == shown
    assert admin.get("/v1/clock") == shown


def test_real_clock_can_be_advanced(admin: AdminClient) -> None:
    before = admin.get("/v1/clock")

    after = admin.post("/v1/clock", {"advance_ms": DAY_MS})

    assert after["mode"] == "real"
    assert after["now_ms"] >= before["now_ms"] + DAY_MS


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, ""),
        ({"mode": "fast"}, "mode"),
        ({"advance_ms": -1}, "advance_ms"),
        ({"advance_ms": 2**62}, "advance_ms"),
        ({"now_ms": 1}, "now_ms"),
    ],
)
def test_invalid_change_is_400(admin: AdminClient, body: object, field: str) -> None:
    answer = admin.call("POST", "/v1/clock", body)

    assert (answer.status, answer.error["field"]) == (400, field)
