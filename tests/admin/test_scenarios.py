"""The scenarios over HTTP."""

from .admin_client import AdminClient


def test_scenarios_are_listed(admin: AdminClient) -> None:
    scenarios = {scenario["name"]: scenario for scenario in admin.get("/v1/scenarios")["items"]}

    assert {"success", "lost-ack", "lost-request", "gap"} <= scenarios.keys()
    assert scenarios["lost-ack"]["title"] != ""


def test_scenario_runs_on_its_own_broker_and_is_reported(admin: AdminClient) -> None:
    report = admin.post("/v1/scenarios/gap/run", {})

    assert (report["scenario"], report["client"], report["passed"]) == ("gap", "raw", True)
    assert report["timeline"] != []
    assert admin.get("/v1/journal/count")["count"] == 0


def test_unknown_scenario_is_404(admin: AdminClient) -> None:
    answer = admin.call("POST", "/v1/scenarios/no-such/run", {})

    assert (answer.status, answer.error["value"]) == (404, "no-such")


def test_unknown_client_is_409_with_the_known_ones(admin: AdminClient) -> None:
    answer = admin.call("POST", "/v1/scenarios/gap/run", {"client": "telnet"})

    assert answer.status == 409
    assert "confluent" in answer.error["message"]


def test_invalid_version_is_400(admin: AdminClient) -> None:
    answer = admin.call("POST", "/v1/scenarios/gap/run", {"as_version": "newest"})

    assert (answer.status, answer.error["field"]) == (400, "as_version")
