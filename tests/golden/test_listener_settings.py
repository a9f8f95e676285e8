"""The settings of listener_settings on a fauxka: it refuses and accepts what Kafka does, with Kafka's messages."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from fauxka.broker.lifecycle.cluster_server import ClusterServer
from fauxka.broker.lifecycle.serve_command import ServeOptions, StartupError, prepare
from fauxka.broker.network.listeners import Listener

from ..wire.frames import api_versions_request
from ..wire.wire_connection import WireConnection, tls_without_checks
from .capture_listener_settings import LOOPBACK, Places, entries_of_kafka
from .captures import golden_file
from .listener_settings import SETTINGS
from .regenerate import regenerate

NAME = "listener_settings"

# What fauxka refuses and Kafka does not, with a part of the message: keys of single listeners that Kafka ignores.
REFUSED_HERE = {
    "SSL, required, prefix in upper case": "did you mean listener.name.door.ssl.client.auth?",
    "SSL, required, prefix in mixed case": "did you mean listener.name.door.ssl.client.auth?",
    "SSL, required, prefix of no listener": "listener.name.absent.ssl.client.auth: there is no listener of that name",
    "SSL, required, key in upper case": "did you mean listener.name.door.ssl.client.auth?",
    "SSL, required, key that does not exist": "did you mean listener.name.door.ssl.client.auth?",
    "SASL_SSL, required, prefix in upper case": "did you mean listener.name.door.ssl.client.auth?",
    "PLAINTEXT, required of the listener": "listener.name.door.ssl.client.auth: a listener with the protocol PLAINTEXT",
    "SASL_SSL, mechanism in upper case": "did you mean listener.name.door.plain.sasl.jaas.config?",
    "SASL_SSL, mechanism that does not exist": "unknown configuration key listener.name.door.plane.sasl.jaas.config",
    "SSL, reauthentication of no listener": "listener.name.absent.connections.max.reauth.ms: there is no listener",
    "SSL, maximum of connections of no listener": "listener.name.absent.max.connections: there is no listener",
}
# What both refuse, with other words: Kafka finds a port that is too high when it registers, and binds in other threads.
MESSAGES_HERE = {
    "an unknown host": "cannot bind absent.invalid:{1}: ",
    "a port above the highest": "expected host:port with a port up to 65535",
    "one port on both wildcards": "cannot bind [::]:{1}: address already in use",
    "a negative port": "expected host:port with a port up to 65535",
}
# What Kafka refuses and fauxka does not, with the addresses of each listener. A wildcard is localhost to clients, and
# nodes need no listener to connect to each other.
ACCEPTED_HERE = {
    "IPv4 wildcard": [["127.0.0.1", "127.0.0.2", "::1"]],
    "no inter-broker listener": [["127.0.0.1"]],
    # With a certificate of the throw-away authority.
    "a name twice in the map": [["127.0.0.1"]],
}


def captured() -> dict[str, Any]:
    lines = map(json.loads, golden_file(NAME).read_text().splitlines())
    return {line.pop("case"): line for line in lines}


CAPTURED = captured()


IS_REFUSED = {case for case, outcome in CAPTURED.items() if "refused" in outcome}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    return Places(tmp_path_factory.mktemp("stores"))


def test_no_setting_is_missing_from_the_golden_file() -> None:
    assert list(CAPTURED) == list(SETTINGS)


@pytest.mark.parametrize("case", [case for case in SETTINGS if case in IS_REFUSED and case not in ACCEPTED_HERE])
def test_setting_that_kafka_refuses_is_refused_with_its_message(case: str, places: Places) -> None:
    expected = MESSAGES_HERE.get(case) or CAPTURED[case]["refused"].removeprefix("requirement failed: ")

    assert expected in refusal_of(case, places)


@pytest.mark.parametrize("case", REFUSED_HERE)
def test_setting_whose_key_kafka_ignores_is_refused_with_the_key(case: str, places: Places) -> None:
    assert case not in IS_REFUSED
    assert REFUSED_HERE[case] in refusal_of(case, places)


@pytest.mark.parametrize("case", [case for case in SETTINGS if case not in IS_REFUSED and case not in REFUSED_HERE])
def test_setting_that_kafka_accepts_has_the_same_listeners(case: str, places: Places) -> None:
    listeners = started_with(case, places)

    assert listeners == with_defaults(CAPTURED[case]["listeners"], SETTINGS[case], listeners)


@pytest.mark.parametrize("case", ACCEPTED_HERE)
def test_setting_that_kafka_refuses_and_fauxka_accepts_has_these_addresses(case: str, places: Places) -> None:
    assert case in IS_REFUSED
    assert [each["accepts"] for each in started_with(case, places).values()] == ACCEPTED_HERE[case]


@pytest.mark.reference
@pytest.mark.timeout(900)
def test_golden_file_equals_what_kafka_returns_today(tmp_path: Path) -> None:
    regenerate(NAME, tmp_path / "answers.jsonl")

    assert (tmp_path / "answers.jsonl").read_text() == golden_file(NAME).read_text()


def refusal_of(case: str, places: Places) -> str:
    """Return why the broker does not start with a setting, in one line."""
    with pytest.raises((StartupError, OSError)) as refused:
        started_with(case, places)
    message = places.named(str(refused.value))
    assert "\n" not in message
    return message


def started_with(case: str, places: Places) -> dict[str, Any]:
    """Return what ListenerSettings.java prints of the listeners of a broker with this setting.

    Each advertised address must accept connections.
    """
    entries = places.filled(entries_of_kafka(SETTINGS[case]))
    options = ServeOptions({}, assignments=[f"{key}={value}" for key, value in entries.items()])
    return {name: json.loads(places.named(json.dumps(each))) for name, each in asyncio.run(_listeners(options)).items()}


async def _listeners(options: ServeOptions) -> dict[str, dict[str, Any]]:
    built = prepare(options, None).built
    server = ClusterServer(built.cluster, built.listeners)
    await server.start()
    try:
        (only,) = server.servers
        return {each.name: await asyncio.to_thread(_described, each) for each in only.listeners}
    finally:
        await server.stop()


def _described(listener: Listener) -> dict[str, Any]:
    assert accepts(listener.advertised_host, listener.advertised_port)
    addresses = [address for address in LOOPBACK if accepts(address, listener.port)]
    described = {
        "advertised": listener.advertised_host,
        "advertised port": str(listener.advertised_port),
        "accepts": addresses,
    }
    if listener.security is not None and listener.security.tls is not None:
        described["without certificate"] = "answered" if is_answered(addresses[0], listener.port) else "refused"
    return described


def accepts(address: str, port: int) -> bool:
    with suppress(OSError):
        WireConnection(f"{address}:{port}").close()
        return True
    return False


def is_answered(address: str, port: int) -> bool:
    """Return whether a client without a certificate gets a response to ApiVersions."""
    with WireConnection(f"{address}:{port}") as connection, suppress(OSError):
        connection.start_tls(tls_without_checks())
        connection.send(api_versions_request())
        return bool(connection.receive_frame())
    return False


def with_defaults(
    captured_listeners: Mapping[str, Any], setting: Mapping[str, str], listeners: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the captured listeners, with fauxka's value where Kafka's is the host of the machine or not captured."""
    expected: dict[str, Any] = {}
    for name, each in captured_listeners.items():
        own = listeners[name]
        expected[name] = own if each.get("advertised port") == "0" else own | each
        is_wildcard = each.get("advertised") == "::" and "advertised.listeners" not in setting
        if each.get("advertised") is None or is_wildcard:
            expected[name] = expected[name] | {"advertised": own["advertised"]}
    return expected
