"""ACLs over HTTP."""

from .admin_client import AdminClient

WRITE = {"principal": "User:alice", "operation": "WRITE", "resource_type": "TOPIC", "name": "orders"}


def test_broker_without_an_authorizer_has_no_acls(admin: AdminClient) -> None:
    assert admin.get("/v1/acls") == {"items": [], "next": None}
    answer = admin.call("POST", "/v1/acls", WRITE)

    assert answer.status == 409
    assert "authorizer.class.name" in answer.error["message"]


def test_wrong_acl_is_400_with_what_is_allowed(admin: AdminClient) -> None:
    answer = admin.call("POST", "/v1/acls", {**WRITE, "permission": "MAYBE"})

    assert (answer.status, answer.error["field"], answer.error["value"]) == (400, "permission", "MAYBE")
    assert "DENY" in answer.error["allowed"]
