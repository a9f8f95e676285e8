"""Client quotas: python -m tests.golden.capture_quotas HOST:PORT. The effect of quotas is that of quota_effects.

Needs a fresh broker. A line about an effect has the throttle times in the responses, in words where they
differ from run to run.
"""

from __future__ import annotations

from collections.abc import Mapping

from . import quota_effects
from .capture_recorder import Recorder, main
from .quota_requests import (
    ANY,
    CLIENT_ID,
    CONNECTION,
    DEFAULT,
    EXACT,
    FETCH,
    IP,
    MUTATION,
    PRODUCE,
    REQUEST,
    USER,
    Entity,
    Values,
    altering,
    describing,
    entry,
)

VERSION = 1
INT32_MAX, INT64_MAX = 2**31 - 1, 2**63 - 1


# Components of filters: type, kind of match, and name.
_MATCHES: Mapping[str, tuple[str, int, str | None]] = {
    **{f"{kind} {name}": (kind, EXACT, name) for kind, name in ((USER, "alice"), (CLIENT_ID, "app"))},
    **{f"IP {name}": (IP, EXACT, name) for name in ("10.0.0.1", "2001:db8::1", "2001:db8:0:0:0:0:0:1")},
    "user bob": (USER, EXACT, "bob"),
    "user of an empty name": (USER, EXACT, ""),
    **{f"default {kind}": (kind, DEFAULT, None) for kind in (USER, CLIENT_ID, IP)},
    **{f"any {kind}": (kind, ANY, None) for kind in (USER, CLIENT_ID, IP)},
    "exact null": (USER, EXACT, None),
    "default with a name": (USER, DEFAULT, "alice"),
    "any with a name": (USER, ANY, "alice"),
    "unknown match": (USER, 3, "alice"),
    "negative match": (USER, -1, None),
    "unknown type": ("topic", EXACT, "orders"),
    "empty type": ("", EXACT, "orders"),
}
_PAIRS: Mapping[str, tuple[tuple[str, int, str | None], ...]] = {
    "alice and app": ((USER, EXACT, "alice"), (CLIENT_ID, EXACT, "app")),
    "alice and default": ((USER, EXACT, "alice"), (CLIENT_ID, DEFAULT, None)),
    "alice and any": ((USER, EXACT, "alice"), (CLIENT_ID, ANY, None)),
    "any and app": ((USER, ANY, None), (CLIENT_ID, EXACT, "app")),
    "both defaults": ((USER, DEFAULT, None), (CLIENT_ID, DEFAULT, None)),
    "both any": ((USER, ANY, None), (CLIENT_ID, ANY, None)),
    "user twice": ((USER, EXACT, "alice"), (USER, ANY, None)),
    "user and IP": ((USER, EXACT, "alice"), (IP, ANY, None)),
    "client id and IP": ((CLIENT_ID, ANY, None), (IP, EXACT, "10.0.0.1")),
    "unknown type second": ((USER, EXACT, "alice"), ("topic", ANY, None)),
}


def capture(recorder: Recorder) -> None:
    """Record every case."""
    _describe(recorder, "at first")
    _entities(recorder)
    _values(recorder)
    _several(recorder)
    _changes(recorder)
    _filters(recorder)
    quota_effects.capture(recorder)


def _describe(recorder: Recorder, case: str) -> None:
    recorder.settle()
    recorder.case(f"all quotas {case}", VERSION, describing())


def _entities(recorder: Recorder) -> None:
    """Cases that only validate entities."""
    entities: dict[str, Entity] = {
        "user": {USER: "alice"},
        "default user": {USER: None},
        "client id": {CLIENT_ID: "app"},
        "default client id": {CLIENT_ID: None},
        "user and client id": {USER: "alice", CLIENT_ID: "app"},
        "user and default client id": {USER: "alice", CLIENT_ID: None},
        "default user and client id": {USER: None, CLIENT_ID: "app"},
        "both defaults": {USER: None, CLIENT_ID: None},
        "none": {},
        "unknown type": {"topic": "orders"},
        "empty type": {"": "orders"},
        "type in upper case": {"USER": "alice"},
        "user and unknown type": {USER: "alice", "topic": "orders"},
        "user and IP": {USER: "alice", IP: "10.0.0.1"},
        "client id and IP": {CLIENT_ID: "app", IP: "10.0.0.1"},
        "user twice": ((USER, "alice"), (USER, "bob")),
        "empty user": {USER: ""},
        "empty client id": {CLIENT_ID: ""},
        "empty IP": {IP: ""},
        "user of other characters": {USER: "CN=ü, O=a b/c*"},
        "user <default>": {USER: "<default>"},
    }
    for name, entity in entities.items():
        request = altering(entry(entity, {PRODUCE: 1000}), validate_only=True)
        recorder.case(f"entity: {name}", VERSION, request)
    addresses = {
        "IPv4": "10.0.0.1",
        "IPv6": "2001:db8::1",
        "default": None,
        "a host": "localhost",
        "no address": "10.0.0.256",
        "no host": "no such host",
    }
    for name, address in addresses.items():
        request = altering(entry({IP: address}, {CONNECTION: 10}), validate_only=True)
        recorder.case(f"IP: {name}", VERSION, request)
    _describe(recorder, "after validation only")


def _values(recorder: Recorder) -> None:
    """Cases that only validate keys and values."""
    user, address = {USER: "alice"}, {IP: "10.0.0.1"}
    cases: list[tuple[Entity, str, float | None]] = [
        *((user, key, value) for key in (PRODUCE, FETCH, REQUEST, MUTATION) for value in (1, 0.5, 0, -1, None)),
        *((user, PRODUCE, value) for value in (1.0000001, 1.00001, INT64_MAX, 1e19, float("inf"), float("nan"))),
        *((user, REQUEST, value) for value in (1e-9, 1e300, float("inf"), float("nan"))),
        *((address, CONNECTION, value) for value in (1, 0.5, 0, -1, INT32_MAX, INT32_MAX + 1.0, 2.5, None)),
        (user, CONNECTION, 1),
        (address, PRODUCE, 1),
        (user, "unknown", 1),
        (user, "", 1),
        (user, "unknown", None),
        (user, "SCRAM-SHA-256", 1),
        (user, "Producer_Byte_Rate", 1),
    ]
    for entity, key, value in cases:
        kind = next(iter(entity))
        request = altering(entry(entity, {key: value}), validate_only=True)
        recorder.case(f"value: {key} {value} of {kind}", VERSION, request)


def _several(recorder: Recorder) -> None:
    """Several keys, and several entities."""
    alice, bob = {USER: "alice"}, {USER: "bob"}
    cases = {
        "no entities": altering(),
        "no keys": altering(entry(alice, {})),
        "key twice": altering(entry(alice, ((PRODUCE, 1), (PRODUCE, 2)))),
        "key twice, of user and client id": altering(
            entry({USER: "a", CLIENT_ID: "b"}, ((PRODUCE, 1), (PRODUCE, None)))
        ),
        "entity twice": altering(entry(alice, {PRODUCE: 1}), entry(alice, {FETCH: 2})),
        "entity twice, in another order": altering(
            entry({USER: "a", CLIENT_ID: "b"}, {PRODUCE: 1}), entry({CLIENT_ID: "b", USER: "a"}, {PRODUCE: 1})
        ),
        "one key of two is wrong": altering(entry(alice, {PRODUCE: 1000, "unknown": 1})),
        "one entity of two is wrong": altering(entry(alice, {PRODUCE: 1000}), entry({USER: ""}, {PRODUCE: 1000})),
        "two entities": altering(entry(alice, {FETCH: 1000}), entry(bob, {PRODUCE: 1000, REQUEST: 12.5})),
    }
    for name, request in cases.items():
        recorder.case(f"several: {name}", VERSION, request)
        _describe(recorder, f"after: {name}")


def _changes(recorder: Recorder) -> None:
    """Changed and removed quotas, in both versions."""
    alice = {USER: "alice"}
    for version in (0, 1):
        changes: dict[str, Values] = {
            "set": {PRODUCE: 2048, REQUEST: 0.125},
            "same": {PRODUCE: 2048},
            "changed, and another removed": {PRODUCE: 4096, REQUEST: None},
            "rounded": {PRODUCE: 4096.0000001},
            "removed": {PRODUCE: None},
            "removed again": {PRODUCE: None, FETCH: None},
        }
        for name, values in changes.items():
            recorder.case(f"changes: {name}", version, altering(entry(alice, values)))
            _describe(recorder, f"after: {name}, version {version}")
    recorder.case("changes: removed with a value", VERSION, altering(entry({USER: "bob"}, {PRODUCE: None})))
    recorder.case("changes: last ones removed", VERSION, altering(entry({USER: "bob"}, {REQUEST: None})))
    _describe(recorder, "after the last ones are removed")


def _filters(recorder: Recorder) -> None:
    """What a filter finds."""
    entities: list[Entity] = [
        {USER: "alice"},
        {USER: None},
        {CLIENT_ID: "app"},
        {CLIENT_ID: None},
        {USER: "alice", CLIENT_ID: "app"},
        {USER: "alice", CLIENT_ID: None},
        {USER: None, CLIENT_ID: "app"},
        {USER: None, CLIENT_ID: None},
    ]
    quotas = [entry(entity, {PRODUCE: 1e9 + number}) for number, entity in enumerate(entities)]
    addresses = [entry({IP: address}, {CONNECTION: 1000}) for address in ("10.0.0.1", "2001:db8::1", None)]
    recorder.case("filters: quotas of everyone", VERSION, altering(*quotas, *addresses))
    recorder.settle()
    for strict in (False, True):
        title = "strict filter" if strict else "filter"
        recorder.case(f"{title}: empty", VERSION, describing(strict=strict))
        for name, component in _MATCHES.items():
            recorder.case(f"{title}: {name}", VERSION, describing(component, strict=strict))
        for name, pair in _PAIRS.items():
            recorder.case(f"{title}: {name}", VERSION, describing(*pair, strict=strict))
    recorder.case("filter, version 0: any user", 0, describing((USER, ANY, None)))
    recorder.case("filter, version 0: wrong", 0, describing((USER, ANY, "alice")))
    removed = [entry(entity, {PRODUCE: None}) for entity in entities]
    removed += [entry({IP: address}, {CONNECTION: None}) for address in ("10.0.0.1", "2001:db8::1", None)]
    recorder.case("filters: quotas of no one", 0, altering(*removed))
    _describe(recorder, "at last")


if __name__ == "__main__":
    main(capture)
