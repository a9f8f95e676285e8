"""The token endpoint: credentials, claims and lifetimes of tokens, and the key set that checks them."""

import json
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest

from ..serving_process import Serving, serving

USER, PASSWORD = "alice", "secret:with%41+colon"
GRANT = {"grant_type": "client_credentials"}
LIFETIME_MS = 90_000


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    options = ["--admin-port", "0", "--admin-token", "T", "--token-lifetime-ms", str(LIFETIME_MS)]
    folder = tmp_path_factory.mktemp("oauth")
    with serving(folder, "--port", "0", "--user", f"{USER}:{PASSWORD}", *options) as running:
        yield running


def post(broker: Serving, form: dict[str, str], auth: tuple[str, str] | None = None, query: str = "") -> httpx.Response:
    return httpx.post(f"{broker.admin}/oauth/token{query}", data=form, auth=auth)


def part_of(token: str, number: int) -> dict[str, Any]:
    part = token.split(".")[number]
    decoded: dict[str, Any] = json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return decoded


@pytest.mark.parametrize("is_basic", [True, False])
def test_user_gets_a_token_without_the_token_of_the_admin_api(broker: Serving, is_basic: bool) -> None:
    form = {} if is_basic else {"client_id": USER, "client_secret": PASSWORD}

    response = post(broker, {**GRANT, **form, "unknown": "ignored"}, (USER, PASSWORD) if is_basic else None)

    body = response.json()
    assert response.status_code == 200
    assert response.headers["cache-control"] == "no-store"
    assert {name: body[name] for name in body if name != "access_token"} == {"token_type": "Bearer", "expires_in": 90}
    claims = part_of(body["access_token"], 1)
    assert (claims["sub"], claims["iss"], claims["aud"]) == (USER, broker.admin, "kafka")
    assert 90 <= claims["exp"] - claims["iat"] <= 91


def test_client_chooses_scope_audience_and_lifetime(broker: Serving) -> None:
    response = post(broker, {**GRANT, "scope": "a b", "audience": "x"}, (USER, PASSWORD), "?lifetime_ms=1500")

    body = response.json()
    claims = part_of(body["access_token"], 1)
    assert (body["expires_in"], body["scope"]) == (2, "a b")
    assert (claims["scope"], claims["aud"]) == ("a b", "x")
    assert claims["exp"] - claims["iat"] in (2, 3)


def test_key_set_checks_the_signature(broker: Serving) -> None:
    token = post(broker, GRANT, (USER, PASSWORD)).json()["access_token"]

    configuration = httpx.get(f"{broker.admin}/.well-known/openid-configuration").json()
    key_set = jwt.PyJWKSet.from_dict(httpx.get(configuration["jwks_uri"]).json())

    claims = jwt.decode(token, key_set[part_of(token, 0)["kid"]], algorithms=["RS256"], audience="kafka")
    assert claims["iss"] == configuration["issuer"] == broker.admin
    assert configuration["token_endpoint"] == f"{broker.admin}/oauth/token"


@pytest.mark.parametrize(
    ("auth", "form"),
    [
        ((USER, "wrong"), {}),
        ((USER, ""), {}),
        (("bob", PASSWORD), {}),
        (("", ""), {}),
        (None, {}),
        (None, {"client_id": USER}),
        (None, {"client_id": USER, "client_secret": "wrong"}),
        ((USER, "wrong"), {"client_id": USER, "client_secret": PASSWORD}),
        (("ü", "\udc80"), {}),
    ],
)
def test_wrong_credentials_are_an_invalid_client(
    broker: Serving, auth: tuple[str, str] | None, form: dict[str, str]
) -> None:
    if auth is not None and not auth[1].isprintable():
        auth = (auth[0], "\x7f")

    response = post(broker, {**GRANT, **form}, auth)

    assert (response.status_code, response.json()["error"]) == (401, "invalid_client")
    assert response.headers["www-authenticate"].startswith("Basic")
    assert PASSWORD not in response.text


@pytest.mark.parametrize("header", ["Basic", "Basic !", "Basic /w==", "Bearer x", "T", ""])
def test_other_authorization_is_an_invalid_client(broker: Serving, header: str) -> None:
    response = httpx.post(f"{broker.admin}/oauth/token", data=GRANT, headers={"Authorization": header})

    assert (response.status_code, response.json()["error"]) == (401, "invalid_client")


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({}, "invalid_request"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": ""}, "unsupported_grant_type"),
    ],
)
def test_other_grants_are_refused(broker: Serving, form: dict[str, str], error: str) -> None:
    response = post(broker, form, (USER, PASSWORD))

    assert (response.status_code, response.json()["error"]) == (400, error)


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("grant_type=client_credentials&grant_type=x", ""),
        ("&".join(f"f{number}=" for number in range(101)), ""),
        (f"grant_type=client_credentials&scope={'x' * 1001}", ""),
        ("grant_type=client_credentials", "?lifetime_ms=0"),
        ("grant_type=client_credentials", "?lifetime_ms=x"),
        ("grant_type=client_credentials", "?lifetime=1"),
    ],
)
def test_invalid_request_is_refused(broker: Serving, content: str, query: str) -> None:
    response = httpx.post(f"{broker.admin}/oauth/token{query}", content=content, auth=(USER, PASSWORD))

    assert response.status_code == 400


def test_broker_without_users_issues_no_token(tmp_path: Path) -> None:
    with serving(tmp_path, "--port", "0", "--admin-port", "0") as broker:
        response = post(broker, GRANT, (USER, PASSWORD))
        keys = httpx.get(f"{broker.admin}/oauth/jwks").json()

    assert (response.status_code, response.json()["error"]) == (401, "invalid_client")
    assert keys == {"keys": []}


def test_tokens_and_secrets_are_in_no_log(tmp_path: Path) -> None:
    options = ["--admin-port", "0", "--user", f"{USER}:{PASSWORD}", "--log-level", "trace"]
    with serving(tmp_path, "--port", "0", *options) as broker:
        token = post(broker, {**GRANT, "client_id": USER, "client_secret": PASSWORD}).json()["access_token"]
        broker.process.terminate()
        log = "".join(broker.process.communicate())

    assert "stopping" in log
    assert token not in log
    assert PASSWORD not in log
