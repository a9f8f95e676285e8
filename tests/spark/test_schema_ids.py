"""`fauxka audit` and `fauxka dedup` with event ids from Avro and Protobuf, written by Confluent's serializers."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka import Producer

from fauxka.testing import Broker

from ..pipeline.confluent_contents import avro_serializer, protobuf_serializer
from ..pipeline.order_schemas import descriptor_set
from ..pipeline.registry_server import RegistryServer, registry_server
from ..serving_process import Ended, run

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

RUN_SECONDS_MAX = 400
QUICK = ("--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1")
EVENTS = 12
# An event that is acknowledged and never sent, and one that is sent twice.
LOST, TWICE = "order-lost", 3
UNDECODABLE = 2

AVRO_SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "fields": [
            {
                "name": "meta",
                "type": [
                    "null",
                    {"type": "record", "name": "Meta", "fields": [{"name": "id", "type": ["null", "string"]}]},
                ],
            },
            {"name": "price", "type": "double"},
        ],
    }
)
Serialize = Callable[[int], bytes]


@pytest.fixture(scope="module")
def registry() -> Iterator[RegistryServer]:
    with registry_server() as registry:
        yield registry


def avro_order(registry: RegistryServer, topic: str) -> Serialize:
    serialize = avro_serializer(registry, AVRO_SCHEMA, topic)
    return lambda number: serialize({"meta": {"id": f"order-{number}"}, "price": 1.5})


def protobuf_order(registry: RegistryServer, topic: str) -> Serialize:
    serialize = protobuf_serializer(registry, "shop.Order", topic)
    return lambda number: serialize({"reference": {"uuid": f"order-{number}"}})


def apicurio_order(registry: RegistryServer, topic: str) -> Serialize:
    """Return a function that serializes orders as Apicurio's older serializers do: with an id of eight bytes."""
    serialize = avro_order(registry, topic)

    def serialize_with_long_id(number: int) -> bytes:
        content = serialize(number)
        return content[:1] + bytes(4) + content[1:]

    return serialize_with_long_id


def send(broker: Broker, topic: str, serialize: Serialize) -> None:
    """Send the events, one of them twice, and records that are not of the schema."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "enable.idempotence": True})
    for number in (*range(EVENTS), TWICE):
        producer.produce(topic, serialize(number), key="k")
    for _ in range(UNDECODABLE):
        producer.produce(topic, b"{}", key="k")
    assert producer.flush(60) == 0


def ledger(folder: Path) -> str:
    lines = [{"event_id": event_id} for event_id in (*(f"order-{number}" for number in range(EVENTS)), LOST)]
    (folder / "sent.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return str(folder / "sent.jsonl")


def command(name: str, *arguments: str) -> Ended:
    return run(name, *QUICK, *arguments, seconds_max=RUN_SECONDS_MAX)


def found(ended: Ended) -> list[tuple[str, str | None, str | None]]:
    verdict = json.loads(ended.output)
    return sorted(
        (group["kind"], example["event_id"], example["detail"])
        for group in verdict["groups"]
        for example in group["examples"]
    )


class Orders(NamedTuple):
    """Orders in a topic, and the options that read their ids."""

    topic: str
    order_of: Callable[[RegistryServer, str], Serialize]
    options: tuple[str, ...]


@pytest.mark.parametrize(
    "orders",
    [
        Orders("avro", avro_order, ("--event-id", "avro:meta.id")),
        Orders("protobuf", protobuf_order, ("--event-id", "protobuf:reference.uuid")),
        Orders("apicurio", apicurio_order, ("--event-id", "avro:meta.id", "--schema-id-bytes", "8")),
    ],
    ids=lambda orders: str(orders.topic),
)
def test_an_audit_finds_a_copy_and_a_loss_by_a_schema_of_the_registry(
    registry: RegistryServer, tmp_path: Path, orders: Orders
) -> None:
    with Broker() as broker:
        send(broker, orders.topic, orders.order_of(registry, orders.topic))

        ended = command(
            *("audit", "--bootstrap", broker.bootstrap_servers, "--json", "-", *orders.options),
            *("--schema-registry", registry.url, "--sent", ledger(tmp_path)),
        )

    assert ended.exit_code == 1, ended.log
    (copy, lost, without_id) = found(ended)
    assert copy[:2] == ("duplicate", f"order-{TWICE}")
    assert lost[:2] == ("lost", LOST)
    assert without_id[2] == (
        f"{UNDECODABLE} records have no event id ({UNDECODABLE} cannot be decoded, such as: there is no schema id in"
        f" front of it), the first of them at offset {EVENTS + 1}"
    )
    (totals,) = json.loads(ended.output)["events"]
    assert (totals["with_id"], totals["ids"], totals["undecodable"]) == (EVENTS + 1, EVENTS, UNDECODABLE)


def test_a_field_that_no_schema_of_the_registry_has_is_one_line(registry: RegistryServer, tmp_path: Path) -> None:
    with Broker() as broker:
        send(broker, "avro", avro_order(registry, "avro"))
        bootstrap = broker.bootstrap_servers
        by_field = ("--bootstrap", bootstrap, "--event-id", "avro:id", "--schema-registry", registry.url)

        audit = command("audit", *by_field)
        dedup = command("dedup", *by_field, "--from", "avro", "--to", str(tmp_path / "once"), "--batch")

    reason = r"schema id \d+: the Avro schema has no field id; fields there are meta, price"
    for ended, log in ((audit, bootstrap), (dedup, "avro")):
        assert ended.exit_code == 2, ended.log
        assert re.search(rf"^fauxka: event-id: no record of {log} has avro:id: {reason}$", ended.log, re.MULTILINE)
        assert "Traceback" not in ended.log


def test_dedup_by_a_schema_file_keeps_one_copy_and_what_cannot_be_decoded(
    registry: RegistryServer, tmp_path: Path
) -> None:
    schema = tmp_path / "order.desc"
    schema.write_bytes(descriptor_set())
    with Broker() as broker:
        send(broker, "orders", protobuf_order(registry, "orders"))
        job = ("dedup", "--from", "orders", "--bootstrap", broker.bootstrap_servers, "--to", str(tmp_path / "once"))
        by_field = ("--event-id", "key+protobuf:reference.uuid", "--value-schema", str(schema), "--confluent-header")

        ended = command(*job, *by_field, "--value-message", "shop.Order", "--available-now")
        again = command(*job, *by_field, "--value-message", "shop.Empty", "--available-now")
        other = command(*job, "--event-id", "key", "--available-now")

    assert ended.exit_code == 0, ended.log
    assert ended.output.splitlines() == [
        f"read {EVENTS + 1 + UNDECODABLE} records of orders",
        f"kept {EVENTS + UNDECODABLE}, in {tmp_path / 'once'} (parquet)",
        "dropped 1 as further copies",
        f"{UNDECODABLE} without key+protobuf:reference.uuid: all kept, because they have no event id",
        f"{UNDECODABLE} of them cannot be decoded, such as: there is no schema id in front of it",
        "further copies of events in orders: 1",
        "  1 sent_again",
    ]
    assert (again.exit_code, again.output) == (2, "")
    assert again.log.startswith(f"fauxka: value-schema: {schema}: shop.Empty has no field reference;")
    assert (other.exit_code, other.output) == (2, "")
    assert " is of another job, with event id key+protobuf:reference.uuid" in other.log
