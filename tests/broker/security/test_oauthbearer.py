"""The exchange of OAUTHBEARER, its validators, and key sets that are fetched."""

import gc
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jwt.algorithms import RSAAlgorithm

from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.config.config_types import ConfigError
from fauxka.broker.security.listener_keys import ListenerKeys
from fauxka.broker.security.listener_security import Accounts, mechanisms_of
from fauxka.broker.security.oauth.bearer_token import InvalidToken, TokenValidator
from fauxka.broker.security.oauth.key_set import KeySet
from fauxka.broker.security.oauth.key_source import (
    BACKOFF_MS_MAX,
    BACKOFF_MS_MIN,
    KEY_SET_BYTES_MAX,
    THREAD_NAME,
    RefreshTimes,
    UrlKeySource,
)
from fauxka.broker.security.oauth.signed_validator import ClaimRules, SignedValidator
from fauxka.broker.security.oauth.token_issuer import OwnTokenValidator, TokenClaims, TokenIssuer
from fauxka.broker.security.oauth.unsecured_validator import (
    UnsecuredOptions,
    UnsecuredValidator,
    parse_unsecured_options,
)
from fauxka.broker.security.principal import Principal
from fauxka.broker.security.sasl.exchange import SaslFailed
from fauxka.broker.security.sasl.oauthbearer import OauthBearerExchange
from fauxka.broker.security.users import Users
from fauxka.protocol.frames import FrameError
from fauxka.security.security_protocol import SecurityProtocol

from ...golden.case_recorder import Json
from ...golden.oauth_tokens import FirstMessage, Jws, base64url, rsa_jwk, rsa_key
from ...serving_process import POLL_SECONDS

NOW_MS = 1_700_000_000_000
RULES = ClaimRules(audiences=None)
CLAIMS = TokenClaims("http://issuer", "alice", "kafka")
JWK = rsa_jwk("first", kid="first")
STEP_SECONDS_MAX = 20
TIMES = RefreshTimes(refresh_ms=3_600_000, backoff_ms=1, backoff_max_ms=10)


def message_of(token: str) -> bytes:
    return FirstMessage(token).data()


def exchange_of(validator: TokenValidator, now_ms: int = NOW_MS) -> OauthBearerExchange:
    return OauthBearerExchange(validator, lambda: now_ms)


class FixedKeys:
    """A key source with one set. missing: how many tokens had no key in it."""

    def __init__(self, *keys: dict[str, object]) -> None:
        self._keys = KeySet(list(keys))
        self.missing = 0

    def key_set(self) -> KeySet:
        return self._keys

    def prepare(self) -> None:
        pass

    def key_is_missing(self) -> None:
        self.missing += 1


UNSECURED = UnsecuredValidator(UnsecuredOptions())
SIGNED = SignedValidator(FixedKeys(dict(JWK)), RULES)


def signed_token(subject: str) -> str:
    claims: dict[str, Json] = {"sub": subject, "iat": NOW_MS // 1000, "exp": NOW_MS // 1000 + 60}
    return Jws(claims, {"alg": "RS256", "kid": "first"}, "first").text()


def test_token_expires_on_the_clock_of_the_exchange() -> None:
    token = Jws({"sub": "alice", "exp": NOW_MS // 1000 + 60}).text()
    before, after = exchange_of(UNSECURED, NOW_MS + 59_000), exchange_of(UNSECURED, NOW_MS + 60_000)

    answers = before.evaluate(message_of(token)), after.evaluate(message_of(token))

    assert answers == (b"", b'{"status":"invalid_token"}')
    assert before.result is not None and before.result.expires_at_ms == NOW_MS + 60_000
    assert after.result is None


def test_reason_of_a_refusal_has_no_part_of_the_token() -> None:
    exchange = exchange_of(SIGNED)
    token = Jws({"sub": "alice", "exp": 1, "iat": 1}, {"alg": "RS256", "kid": "key-of-the-client"}, "other").text()
    exchange.evaluate(message_of(token))

    with pytest.raises(SaslFailed) as failed:
        exchange.evaluate(b"\x01")

    assert failed.value.message == '{"status":"invalid_token"}'
    assert "key-of-the-client" not in failed.value.reason
    assert not any(part in failed.value.reason for part in token.split("."))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("alice"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
OBJECTS = st.dictionaries(
    st.sampled_from(["alg", "kid", "cty", "sub", "exp", "iat", "nbf", "aud", "scope"]), JSON_VALUES
)
PARTS = st.one_of(
    st.text("AZaz09-_=+/", max_size=12),
    st.binary(max_size=40).map(base64url),
    OBJECTS.map(lambda value: base64url(json.dumps(value).encode())),
    st.sampled_from(["none", "RS256", "ES256", "HS256"]).map(lambda alg: base64url(f'{{"alg":"{alg}"}}'.encode())),
)
TOKENS = st.lists(PARTS, max_size=5).map(".".join)
MESSAGES = TOKENS.map(message_of) | st.binary(max_size=60) | st.text("n,a=\x01uth Bearer.", max_size=60).map(str.encode)


@given(messages=st.lists(MESSAGES, min_size=1, max_size=3), is_signed=st.booleans())
@example(
    messages=[message_of(base64url(b'{"alg":"none"}') + "." + base64url(b'{"x":' + b"[" * 200_000) + ".")],
    is_signed=False,
)
@example(messages=[message_of(base64url(b"[" * 200_000) + ".x.x")], is_signed=True)
@example(
    messages=[message_of(base64url(b'{"alg":"none"}') + "." + base64url(b'{"exp":' + b"9" * 300_000) + ".")],
    is_signed=False,
)
@example(messages=[message_of(base64url(b'{"alg":' + b"9" * 300_000) + ".x.x")], is_signed=True)
def test_any_message_is_refused_or_authenticates_a_principal_with_a_name(
    messages: list[bytes], is_signed: bool
) -> None:
    exchange = exchange_of(SIGNED if is_signed else UNSECURED)

    for message in messages:
        try:
            answer = exchange.evaluate(message)
        except (SaslFailed, FrameError):
            break
        if exchange.result is not None:
            break
        assert json.loads(answer)["status"] == "invalid_token"

    # No drawn token has a signature by the key.
    assert exchange.result is None or (not is_signed and exchange.result.principal.name.strip())


def test_own_and_unsecured_tokens_are_accepted_where_no_key_set_is_configured() -> None:
    issuer = TokenIssuer(Users({"alice": "secret"}))
    validator = OwnTokenValidator(issuer, RULES, UNSECURED)
    issuer.make_key()
    own = issuer.issue(CLAIMS, NOW_MS, 60_000)
    unsecured = Jws({"sub": "bob", "exp": NOW_MS // 1000 + 60}).text()

    accepted = [validator.validate(token, NOW_MS) for token in (own.token, unsecured)]

    assert accepted == [("alice", NOW_MS + 60_000), ("bob", NOW_MS + 60_000)]
    assert own.expires_in_seconds == 60


def test_token_of_another_issuer_is_refused() -> None:
    issuer, other = TokenIssuer(Users({})), TokenIssuer(Users({}))
    issuer.make_key()
    other.make_key()
    token = other.issue(CLAIMS, NOW_MS, 60_000).token

    with pytest.raises(InvalidToken):
        OwnTokenValidator(issuer, RULES, UNSECURED).validate(token, NOW_MS)


def test_token_without_a_signature_is_refused_where_a_key_set_is_configured() -> None:
    token = Jws({"sub": "alice", "iat": NOW_MS // 1000, "exp": NOW_MS // 1000 + 60}).text()

    with pytest.raises(InvalidToken):
        SIGNED.validate(token, NOW_MS)


SPACES_OF_UNICODE = ("\x85", "\xa0", "\u2003", "\u3000")


@pytest.mark.parametrize("space", SPACES_OF_UNICODE)
def test_space_of_unicode_around_a_principal_is_a_part_of_it(space: str) -> None:
    name = f"{space}admin{space}"
    token = signed_token(name)

    assert SIGNED.validate(token, NOW_MS).principal == name
    assert SIGNED.find_principal(token) == name


def test_half_of_a_surrogate_pair_in_a_principal_is_no_other_character() -> None:
    token = Jws(b'{"sub":"a\\ud800","exp":4000000000}').text()

    principals = [UNSECURED.validate(token, NOW_MS).principal, UNSECURED.find_principal(token)]

    assert principals == ["a\\ud800", "a\\ud800"]


def test_unsecured_token_names_its_principal_with_the_spaces_that_it_has() -> None:
    token = Jws({"sub": " alice ", "exp": NOW_MS // 1000 + 60}).text()

    assert UNSECURED.find_principal(token) == UNSECURED.validate(token, NOW_MS).principal == " alice "


def test_revoking_the_tokens_of_a_user_keeps_those_of_a_user_with_a_space_of_unicode() -> None:
    issuer = TokenIssuer(Users({}))
    issuer.make_key()
    tokens = [issuer.issue(CLAIMS._replace(subject=user), NOW_MS, 60_000).token for user in ("alice", "\xa0alice")]

    issuer.revoke("alice")

    assert [issuer.is_revoked(token) for token in tokens] == [True, False]


def test_required_scope_with_a_character_that_no_scope_has_is_refused_at_the_start() -> None:
    with pytest.raises(
        ConfigError, match=r"unsecuredValidatorRequiredScope: got read\xa0write; allowed: printable ASCII"
    ):
        parse_unsecured_options({"unsecuredValidatorRequiredScope": "read\xa0write"}, "sasl.jaas.config")


def test_required_scopes_are_between_spaces() -> None:
    options = parse_unsecured_options({"unsecuredValidatorRequiredScope": " read  write "}, "sasl.jaas.config")

    assert options.required_scope == ("read", "write")


@dataclass
class KeyServer:
    """What a server of key sets sends now. requests: how many it has served."""

    body: bytes = b""
    status: int = 200
    requests: int = 0
    headers: dict[str, str] = field(default_factory=dict[str, str])
    served: threading.Condition = field(default_factory=threading.Condition)

    def wait_for_request(self, number: int) -> None:
        with self.served:
            assert self.served.wait_for(lambda: self.requests >= number, STEP_SECONDS_MAX)


@contextmanager
def key_server(state: KeyServer) -> Generator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(state.status)
            self.send_header("Content-Length", str(len(state.body)))
            for name, value in state.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(state.body)
            with state.served:
                state.requests += 1
                state.served.notify_all()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(POLL_SECONDS,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/keys"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def signed_by(key: str) -> str:
    claims: dict[str, Json] = {"sub": "alice", "iat": NOW_MS // 1000, "exp": NOW_MS // 1000 + 60}
    return Jws(claims, {"alg": "RS256", "kid": key}, key).text()


def prepared_source(url: str, times: RefreshTimes = TIMES) -> UrlKeySource:
    source = UrlKeySource(url, times)
    source.prepare()
    return source


def set_of(*names: str) -> bytes:
    return json.dumps({"keys": [rsa_jwk(name, kid=name) for name in names]}).encode()


def validates(validator: SignedValidator, token: str) -> bool:
    try:
        validator.validate(token, NOW_MS)
    except InvalidToken:
        return False
    return True


def eventually_validates(validator: SignedValidator, token: str) -> bool:
    waiting = threading.Event()
    for _ in range(int(STEP_SECONDS_MAX / POLL_SECONDS)):
        if validates(validator, token):
            return True
        waiting.wait(POLL_SECONDS)
    return False


def test_key_set_is_fetched_again_after_a_token_of_an_unknown_key() -> None:
    state = KeyServer(set_of("first"))
    with key_server(state) as url:
        validator = SignedValidator(prepared_source(url), RULES)
        # The server counts a request after its response.
        state.wait_for_request(1)
        before = validates(validator, signed_by("first")), state.requests
        state.body = set_of("any")
        threading.Event().wait(BACKOFF_MS_MIN * 5 / 1000)

        refused = validates(validator, signed_by("any"))
        state.wait_for_request(2)

        assert before == (True, 1)
        assert not refused
        assert eventually_validates(validator, signed_by("any"))


def test_thread_of_a_broker_that_is_gone_ends() -> None:
    before = set(threading.enumerate())
    source = prepared_source("http://127.0.0.1:1/keys")
    started = [thread for thread in threading.enumerate() if thread not in before and thread.name == THREAD_NAME]

    del source
    gc.collect()

    assert len(started) == 1
    started[0].join(STEP_SECONDS_MAX)
    assert not started[0].is_alive()


@pytest.mark.parametrize("backoff_ms", [0, 10**18])
def test_wait_between_two_tries_is_bounded(backoff_ms: int, monkeypatch: pytest.MonkeyPatch) -> None:
    state, slept = KeyServer(b"", status=503), list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        state.body, state.status = set_of("first"), 200

    monkeypatch.setattr("fauxka.broker.security.oauth.key_source.time.sleep", sleep)
    with key_server(state) as url:
        source = prepared_source(url, RefreshTimes(60_000, backoff_ms, backoff_ms))
        assert eventually_validates(SignedValidator(source, RULES), signed_by("first"))

    assert [BACKOFF_MS_MIN <= seconds * 1000 <= BACKOFF_MS_MAX for seconds in slept] == [True]


def test_broker_starts_without_a_key_set_and_gets_it_later() -> None:
    state = KeyServer(b"", status=503)
    with key_server(state) as url:
        validator = SignedValidator(prepared_source(url), RULES)
        before = validates(validator, signed_by("first"))
        state.body, state.status = set_of("first"), 200

        assert not before
        assert eventually_validates(validator, signed_by("first"))


@pytest.mark.parametrize("scheme", ["https", "ftp", "file"])
def test_redirect_to_another_scheme_is_not_followed(scheme: str, caplog: pytest.LogCaptureFixture) -> None:
    state = KeyServer(b"", status=302, headers={"Location": f"{scheme}://127.0.0.1:1/keys"})
    with key_server(state) as url:
        source = prepared_source(url)
        state.body, state.status = set_of("first"), 200

        assert eventually_validates(SignedValidator(source, RULES), signed_by("first"))
    assert "unknown url type" in caplog.text or "Redirection" in caplog.text


def test_redirect_within_the_scheme_is_followed() -> None:
    state = KeyServer(set_of("first"))
    with key_server(state) as url:
        redirecting = KeyServer(b"", status=302, headers={"Location": url})
        with key_server(redirecting) as other:
            assert validates(SignedValidator(prepared_source(other), RULES), signed_by("first"))


def test_password_and_query_of_the_url_are_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    state = KeyServer(b"", status=503)
    with key_server(state) as url:
        secret_url = url.replace("http://", "http://alice:password@") + "?key=api-key"
        source = prepared_source(secret_url)
        state.body, state.status = set_of("first"), 200
        assert eventually_validates(SignedValidator(source, RULES), signed_by("first"))

    assert "/keys" in caplog.text
    assert not [secret for secret in ("password", "api-key") if secret in caplog.text]


def test_private_key_of_a_set_is_used_as_a_public_one() -> None:
    private = RSAAlgorithm.to_jwk(rsa_key("first"), as_dict=True)
    source = FixedKeys({**private, "kid": "first"})

    assert validates(SignedValidator(source, RULES), signed_by("first"))


@pytest.mark.parametrize("body", [b"x", b"[]", b"{}", b'{"keys":1}', b"[" * 200_000, b" " * (KEY_SET_BYTES_MAX + 1)])
def test_body_that_is_no_key_set_is_not_used(body: bytes) -> None:
    state = KeyServer(body)
    with key_server(state) as url:
        source = prepared_source(url)

        with pytest.raises(InvalidToken):
            source.key_set()
        # Ends the thread that tries again.
        state.body = set_of("first")
        assert eventually_validates(SignedValidator(source, RULES), signed_by("first"))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("sasl.oauthbearer.jwks.endpoint.url", "ftp://host/keys", "expected a URL"),
        ("sasl.oauthbearer.jwks.endpoint.url", "http:///keys", "expected a URL"),
        ("sasl.oauthbearer.jwks.endpoint.url", "file:///no/such/file", "No such file"),
        ("sasl.server.callback.handler.class", "com.example.Handler", "allowed: OAuthBearerUnsecured"),
        ("sasl.server.callback.handler.class", "x.OAuthBearerValidatorCallbackHandler", "needs sasl.oauthbearer.jwks"),
        ("sasl.jaas.config", "x.PlainLoginModule required;", "expected"),
        (
            "sasl.jaas.config",
            'x.OAuthBearerLoginModule required unsecuredValidatorAllowableClockSkewMs="x";',
            "expected",
        ),
    ],
)
def test_invalid_configuration_is_refused_at_start_up(key: str, value: str, message: str) -> None:
    config = BrokerConfig.from_entries({"sasl.enabled.mechanisms": "OAUTHBEARER"})
    protocol = SecurityProtocol.SASL_PLAINTEXT
    keys = ListenerKeys("OAUTH", protocol, config, {f"listener.name.oauth.oauthbearer.{key}": value})

    with pytest.raises(ConfigError, match=message):
        mechanisms_of(keys, Accounts(Users({})))


def test_authorization_id_must_be_the_principal() -> None:
    token = Jws({"sub": "alice", "exp": NOW_MS // 1000 + 60}).text()
    exchange = exchange_of(UNSECURED)

    exchange.evaluate(FirstMessage(token, authorization="a=alice").data())

    assert exchange.result is not None and exchange.result.principal == Principal("alice")
