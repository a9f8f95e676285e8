"""The clients by name; each is imported on its first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from ...protocol.similar_names import unknown_name
from ..scenario import RAW
from .client import ClientOptions, ClientUnavailable, ScenarioClient
from .consumer import ConsumerOptions, MakeConsumer, ScenarioConsumer
from .raw_consumer import RawConsumer

# The extra of fauxka with the packages of all clients.
EXTRA = "clients"
INSTALL = f"pip install 'fauxka[{EXTRA}]'"

MakeClient = Callable[[ClientOptions], ScenarioClient]


@dataclass(frozen=True, slots=True)
class ClientModule:
    """Where a client is.

    module, class_name: in this folder. package: the package on PyPI, and imported: its name in Python; None for the
    client that needs no package. consumer_module: one of CONSUMERS.
    """

    module: str
    class_name: str
    package: str | None = None
    imported: str | None = None
    consumer_module: str = "raw_consumer"

    @property
    def is_installed(self) -> bool:
        """Whether the package can be imported."""
        return self.imported is None or find_spec(self.imported) is not None


# By the name on the command line.
CLIENTS: Mapping[str, ClientModule] = {
    RAW: ClientModule("raw_client", "RawClient"),
    "confluent": ClientModule(
        "confluent_client", "ConfluentClient", "confluent-kafka", "confluent_kafka", "confluent_consumer"
    ),
    "aiokafka": ClientModule("aiokafka_client", "AiokafkaClient", "aiokafka", "aiokafka"),
    "kafka-python": ClientModule("kafka_python_client", "KafkaPythonClient", "kafka-python", "kafka"),
}

# The classes of the consumers, by module. The raw client's reads for the clients without one.
CONSUMERS: Mapping[str, str] = {"raw_consumer": "RawConsumer", "confluent_consumer": "ConfluentConsumer"}


@dataclass(frozen=True, slots=True)
class NamedClient:
    """A client and its name in scenarios. make_consumer: the raw client's by default."""

    name: str
    make: MakeClient
    make_consumer: MakeConsumer = RawConsumer


def client_of(name: str) -> NamedClient:
    """Return a client. Raises ClientUnavailable for an unknown name, and if its package is not installed."""
    if name not in CLIENTS:
        raise ClientUnavailable(unknown_name("client", name, CLIENTS))
    client = CLIENTS[name]
    if not client.is_installed:
        raise ClientUnavailable(f"the client {name} needs the package {client.package}; install it with {INSTALL}")
    return NamedClient(
        name, lambda options: _make(name, options), lambda options: _make_consumer(client.consumer_module, options)
    )


def _make(name: str, options: ClientOptions) -> ScenarioClient:
    client = CLIENTS[name]
    try:
        made: ScenarioClient = getattr(import_module(f".{client.module}", __package__), client.class_name)(options)
    except ImportError as error:
        raise ClientUnavailable(f"the client {name} cannot import {client.package}: {error}") from error
    return made


def _make_consumer(module: str, options: ConsumerOptions) -> ScenarioConsumer:
    made: ScenarioConsumer = getattr(import_module(f".{module}", __package__), CONSUMERS[module])(options)
    return made
