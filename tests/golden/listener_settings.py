"""Listeners in Kafka's keys, right and wrong: the settings of capture_listener_settings.

{1} to {4} stand for free ports, {controller} for that of the controller, {stores} for the folder of store_brokers.
"""

from __future__ import annotations

from collections.abc import Mapping

Settings = Mapping[str, Mapping[str, str]]
_INTER = "inter.broker.listener.name"
_MAP = "listener.security.protocol.map"
_JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="secret";'


def _listeners(listeners: str, advertised: str | None = None, **further: str) -> dict[str, str]:
    """Return the keys of a setting. further: keys, with an underscore for each dot."""
    entries = {"listeners": listeners} | ({} if advertised is None else {"advertised.listeners": advertised})
    return entries | {name.replace("_", "."): value for name, value in further.items()}


def _mapped(names: str, listeners: str, advertised: str | None = None) -> dict[str, str]:
    """Return the keys of a setting whose listeners have no TLS and no SASL. names: of the listeners."""
    protocols = ",".join(f"{name}:PLAINTEXT" for name in ("CONTROLLER", *names.split()))
    return {**_listeners(listeners, advertised), _MAP: protocols, _INTER: names.split(maxsplit=1)[0]}


ADDRESSES: Settings = {
    "one listener": _listeners("PLAINTEXT://127.0.0.1:{1}"),
    "IPv4 wildcard": _listeners("PLAINTEXT://0.0.0.0:{1}"),
    "IPv6 wildcard": _listeners("PLAINTEXT://[::]:{1}"),
    "empty host": _listeners("PLAINTEXT://:{1}"),
    "IPv6 loopback": _listeners("PLAINTEXT://[::1]:{1}"),
    "IPv6 loopback without brackets": _listeners("PLAINTEXT://::1:{1}"),
    "name of the machine itself": _listeners("PLAINTEXT://localhost:{1}"),
    "IPv6 wildcard, IPv6 advertised": _listeners("PLAINTEXT://[::]:{1}", "PLAINTEXT://[::1]:{1}"),
    "wildcard, IPv4 advertised": _listeners("PLAINTEXT://0.0.0.0:{1}", "PLAINTEXT://127.0.0.1:{1}"),
    "IPv4 wildcard advertised": _listeners("PLAINTEXT://:{1}", "PLAINTEXT://0.0.0.0:{1}"),
    "IPv6 wildcard advertised": _listeners("PLAINTEXT://:{1}", "PLAINTEXT://[::]:{1}"),
    "empty host advertised": _listeners("PLAINTEXT://127.0.0.1:{1}", "PLAINTEXT://:{1}"),
    "IPv4 address in brackets": _listeners("PLAINTEXT://[127.0.0.1]:{1}"),
    "an unknown host": _listeners("PLAINTEXT://absent.invalid:{1}"),
}
NAMES: Settings = {
    "two listeners": _mapped("ONE TWO", "ONE://127.0.0.1:{1},TWO://127.0.0.1:{2}"),
    "a blank after the comma": _mapped("ONE TWO", "ONE://127.0.0.1:{1}, TWO://127.0.0.1:{2}"),
    "an empty entry": _mapped("ONE", "ONE://127.0.0.1:{1},"),
    "names in lower case": _mapped("ONE", "one://127.0.0.1:{1}"),
    "a name twice": _mapped("ONE", "ONE://127.0.0.1:{1},ONE://127.0.0.1:{2}"),
    "a name twice, once in lower case": _mapped("ONE", "ONE://127.0.0.1:{1},one://127.0.0.1:{2}"),
    "a name twice, at one address": _mapped("ONE", "ONE://127.0.0.1:{1},ONE://127.0.0.1:{1}"),
    "a name on two families": _mapped("ONE", "ONE://127.0.0.1:{1},ONE://[::1]:{1}"),
    "a name on two families and two ports": _mapped("ONE", "ONE://127.0.0.1:{1},ONE://[::1]:{2}"),
    "a name advertised twice": _mapped(
        "ONE TWO", "ONE://127.0.0.1:{1},TWO://127.0.0.1:{2}", "ONE://127.0.0.1:{1},ONE://127.0.0.1:{2}"
    ),
    "a name advertised twice, at one address": _mapped(
        "ONE", "ONE://127.0.0.1:{1}", "ONE://127.0.0.1:{1},ONE://127.0.0.1:{1}"
    ),
    "a name advertised twice, once in lower case": _mapped(
        "ONE", "ONE://127.0.0.1:{1}", "ONE://127.0.0.1:{1},one://127.0.0.1:{2}"
    ),
    "a name advertised on two families": _mapped("ONE", "ONE://[::]:{1}", "ONE://127.0.0.1:{1},ONE://[::1]:{1}"),
    "one of two is advertised": _mapped("ONE TWO", "ONE://127.0.0.1:{1},TWO://127.0.0.1:{2}", "ONE://127.0.0.1:{1}"),
    "advertised, and no listener": _mapped("ONE TWO", "ONE://127.0.0.1:{1}", "TWO://127.0.0.1:{1}"),
    "advertised, and one of them no listener": _mapped(
        "ONE TWO", "ONE://127.0.0.1:{1}", "ONE://127.0.0.1:{1},TWO://127.0.0.1:{2}"
    ),
    "a name without a protocol": _listeners("PLAINTEXT://127.0.0.1:{1},OTHER://127.0.0.1:{2}"),
    "a name without a protocol, in a map": {**_mapped("ONE", "ONE://127.0.0.1:{1},OTHER://127.0.0.1:{2}")},
    "a protocol that Kafka does not have": {
        **_listeners("ONE://127.0.0.1:{1}"),
        _MAP: "ONE:TLS,CONTROLLER:PLAINTEXT",
        _INTER: "ONE",
    },
    "a name twice in the map": {
        **_listeners("ONE://127.0.0.1:{1}"),
        _MAP: "ONE:PLAINTEXT,ONE:SSL,CONTROLLER:PLAINTEXT",
        _INTER: "ONE",
    },
    "the map in lower case": {
        **_listeners("ONE://127.0.0.1:{1}"),
        _MAP: "one:plaintext,controller:plaintext",
        _INTER: "one",
    },
    "no name": _listeners("://127.0.0.1:{1}"),
    "no port": _listeners("PLAINTEXT://127.0.0.1"),
    "a port above the highest": _listeners("PLAINTEXT://127.0.0.1:65536"),
    "a negative port": _listeners("PLAINTEXT://127.0.0.1:-1"),
    "any free port": _listeners("PLAINTEXT://127.0.0.1:0"),
    "two listeners on any free port": _mapped("ONE TWO", "ONE://127.0.0.1:0,TWO://127.0.0.1:0"),
}
PORTS: Settings = {
    "one port twice": _mapped("ONE TWO", "ONE://127.0.0.1:{1},TWO://127.0.0.1:{1}"),
    "one port on two IPv4 addresses": _mapped("ONE TWO", "ONE://127.0.0.1:{1},TWO://127.0.0.2:{1}"),
    "one port on both families": _mapped("ONE TWO", "ONE://127.0.0.1:{1},TWO://[::1]:{1}"),
    "one port on both wildcards": _mapped("ONE TWO", "ONE://0.0.0.0:{1},TWO://[::]:{1}"),
    "one port on a wildcard and an address": _mapped("ONE TWO", "ONE://0.0.0.0:{1},TWO://127.0.0.1:{1}"),
    "one port on two names": _mapped("ONE TWO", "ONE://localhost:{1},TWO://127.0.0.1:{1}"),
    "one port of three listeners": _mapped("ONE TWO SIX", "ONE://127.0.0.1:{1},TWO://[::1]:{1},SIX://127.0.0.2:{1}"),
    "one port on two empty hosts": _mapped("ONE TWO", "ONE://:{1},TWO://:{1}"),
    "one port on two IPv6 addresses": _mapped("ONE TWO", "ONE://[::1]:{1},TWO://[::]:{1}"),
    "one port on both families and a name": _mapped("ONE TWO SIX", "ONE://127.0.0.1:{1},TWO://[::1]:{1},SIX://:{1}"),
    "the port of the controller": _listeners("PLAINTEXT://127.0.0.1:{controller}"),
    "one advertised port": _mapped(
        "ONE TWO", "ONE://127.0.0.1:{1},TWO://127.0.0.1:{2}", "ONE://127.0.0.1:{1},TWO://127.0.0.1:{1}"
    ),
}
BETWEEN_BROKERS: Settings = {
    "inter-broker listener": _listeners("PLAINTEXT://127.0.0.1:{1}", inter_broker_listener_name="PLAINTEXT"),
    "inter-broker listener in lower case": _listeners(
        "PLAINTEXT://127.0.0.1:{1}", inter_broker_listener_name="plaintext"
    ),
    "inter-broker listener without a protocol": _listeners(
        "PLAINTEXT://127.0.0.1:{1}", inter_broker_listener_name="ABSENT"
    ),
    "inter-broker listener that is not there": _listeners(
        "PLAINTEXT://127.0.0.1:{1}", inter_broker_listener_name="SSL"
    ),
    "inter-broker listener that is not advertised": _mapped(
        "TWO ONE", "ONE://127.0.0.1:{1},TWO://127.0.0.1:{2}", "ONE://127.0.0.1:{1}"
    ),
    "inter-broker listener of the controller": _listeners(
        "PLAINTEXT://127.0.0.1:{1}", inter_broker_listener_name="CONTROLLER"
    ),
    "no inter-broker listener": {
        **_listeners("ONE://127.0.0.1:{1}"),
        _MAP: "ONE:PLAINTEXT,CONTROLLER:PLAINTEXT",
    },
    "inter-broker listener and its protocol": _listeners(
        "PLAINTEXT://127.0.0.1:{1}", inter_broker_listener_name="PLAINTEXT", security_inter_broker_protocol="PLAINTEXT"
    ),
}


_MECHANISMS = {"sasl.enabled.mechanisms": "PLAIN", "listener.name.door.plain.sasl.jaas.config": _JAAS}


def _secured(protocol: str, **keys: str) -> dict[str, str]:
    """Return the keys of a setting with the listener DOOR. keys: further ones."""
    return {
        **_listeners("PLAINTEXT://127.0.0.1:{1},DOOR://127.0.0.1:{2}"),
        **(_MECHANISMS if protocol == "SASL_SSL" else {}),
        _MAP: f"PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,DOOR:{protocol}",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": "{stores}/first.pem",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": "{stores}/trusted.pem",
        **keys,
    }


_AUTH = "ssl.client.auth"
_OF_DOOR = f"listener.name.door.{_AUTH}"
SECURITY: Settings = {
    "SSL, no demand": _secured("SSL"),
    "SSL, required": _secured("SSL", **{_AUTH: "required"}),
    "SSL, requested": _secured("SSL", **{_AUTH: "requested"}),
    "SSL, required in upper case": _secured("SSL", **{_AUTH: "REQUIRED"}),
    "SSL, required of the listener": _secured("SSL", **{_OF_DOOR: "required"}),
    "SSL, required of the listener in upper case": _secured("SSL", **{_OF_DOOR: "REQUIRED"}),
    "SSL, of the listener an unknown value": _secured("SSL", **{_OF_DOOR: "maybe"}),
    "SSL, of the listener an empty value": _secured("SSL", **{_OF_DOOR: ""}),
    "SSL, required, none of the listener": _secured("SSL", **{_AUTH: "required", _OF_DOOR: "none"}),
    "SSL, required, prefix in upper case": _secured("SSL", **{f"listener.name.DOOR.{_AUTH}": "required"}),
    "SSL, required, prefix in mixed case": _secured("SSL", **{f"listener.name.Door.{_AUTH}": "required"}),
    "SSL, required, prefix of no listener": _secured("SSL", **{f"listener.name.absent.{_AUTH}": "required"}),
    "SSL, required, prefix of the controller": _secured("SSL", **{f"listener.name.controller.{_AUTH}": "required"}),
    "SSL, required, key in upper case": _secured("SSL", **{"listener.name.door.SSL.CLIENT.AUTH": "required"}),
    "SSL, required, key that does not exist": _secured("SSL", **{"listener.name.door.ssl.client.auht": "required"}),
    "SASL_SSL, no demand": _secured("SASL_SSL"),
    "SASL_SSL, required": _secured("SASL_SSL", **{_AUTH: "required"}),
    "SASL_SSL, requested": _secured("SASL_SSL", **{_AUTH: "requested"}),
    "SASL_SSL, required of the listener": _secured("SASL_SSL", **{_OF_DOOR: "required"}),
    "SASL_SSL, requested of the listener": _secured("SASL_SSL", **{_OF_DOOR: "requested"}),
    "SASL_SSL, required, none of the listener": _secured("SASL_SSL", **{_AUTH: "required", _OF_DOOR: "none"}),
    "SASL_SSL, required, prefix in upper case": _secured("SASL_SSL", **{f"listener.name.DOOR.{_AUTH}": "required"}),
    "PLAINTEXT, required of the listener": _secured("PLAINTEXT", **{_OF_DOOR: "required"}),
    "SASL_SSL, mechanism in upper case": _secured("SASL_SSL", **{"listener.name.door.PLAIN.sasl.jaas.config": _JAAS}),
    "SASL_SSL, mechanism that does not exist": _secured(
        "SASL_SSL", **{"listener.name.door.plane.sasl.jaas.config": _JAAS}
    ),
    "SSL, reauthentication of no listener": _secured(
        "SSL", **{"listener.name.absent.connections.max.reauth.ms": "1000"}
    ),
    "SSL, maximum of connections of no listener": _secured("SSL", **{"listener.name.absent.max.connections": "9"}),
}
SETTINGS: Settings = {**ADDRESSES, **NAMES, **PORTS, **BETWEEN_BROKERS, **SECURITY}
