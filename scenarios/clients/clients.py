"""The clients by name; each is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module

from ..scenario import RAW
from .client import ClientOptions, ClientUnavailable, ScenarioClient

MakeClient = Callable[[ClientOptions], ScenarioClient]

# What is asked for on the command line: the module here, and its class.
CLIENTS: Mapping[str, tuple[str, str]] = {
    RAW: ("raw_client", "RawClient"),
    "confluent": ("confluent_client", "ConfluentClient"),
    "aiokafka": ("aiokafka_client", "AiokafkaClient"),
    "kafka-python": ("kafka_python_client", "KafkaPythonClient"),
}


@dataclass(frozen=True, slots=True)
class NamedClient:
    """A client, and the name by which scenarios speak of it."""

    name: str
    make: MakeClient


def client_of(name: str) -> NamedClient:
    """Return a client. Raises ClientUnavailable for a name that there is not."""
    if name not in CLIENTS:
        raise ClientUnavailable(f"there is no client {name!r}; there are {', '.join(CLIENTS)}")
    module, class_name = CLIENTS[name]
    return NamedClient(name, lambda options: _make(module, class_name, options))


def _make(module: str, class_name: str, options: ClientOptions) -> ScenarioClient:
    client: ScenarioClient = getattr(import_module(f".{module}", __package__), class_name)(options)
    return client
