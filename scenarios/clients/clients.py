"""The clients by name; each is imported on its first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module

from ..scenario import RAW
from .client import ClientOptions, ClientUnavailable, ScenarioClient

MakeClient = Callable[[ClientOptions], ScenarioClient]

# The module and the class of each client, by the name on the command line.
CLIENTS: Mapping[str, tuple[str, str]] = {
    RAW: ("raw_client", "RawClient"),
    "confluent": ("confluent_client", "ConfluentClient"),
    "aiokafka": ("aiokafka_client", "AiokafkaClient"),
    "kafka-python": ("kafka_python_client", "KafkaPythonClient"),
}


@dataclass(frozen=True, slots=True)
class NamedClient:
    """A client and its name in scenarios."""

    name: str
    make: MakeClient


def client_of(name: str) -> NamedClient:
    """Return a client. Raises ClientUnavailable for an unknown name."""
    if name not in CLIENTS:
        raise ClientUnavailable(f"unknown client {name!r}; known are {', '.join(CLIENTS)}")
    module, class_name = CLIENTS[name]
    return NamedClient(name, lambda options: _make(module, class_name, options))


def _make(module: str, class_name: str, options: ClientOptions) -> ScenarioClient:
    client: ScenarioClient = getattr(import_module(f".{module}", __package__), class_name)(options)
    return client
