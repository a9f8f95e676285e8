"""`fauxka compare` with event ids in Avro and Protobuf, written by Confluent's serializers."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from fauxka.testing import Broker

from ..pipeline.confluent_contents import avro_serializer, protobuf_serializer
from ..pipeline.order_schemas import descriptor_set, message_class
from ..pipeline.registry_server import RegistryServer, registry_server
from ..serving_process import Ended, run

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

RUN_SECONDS_MAX = 400
DELIVERED_SECONDS_MAX = 60
QUICK = ("--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1")
ORDERS = 12
LOST, TWICE, EXTRA = 4, 7, 99
UNDECODABLE = 2
AVRO_SCHEMA = json.dumps({"type": "record", "name": "Order", "fields": [{"name": "number", "type": "long"}]})
Serialize = Callable[[int], bytes]


@pytest.fixture(scope="module")
def registry() -> Iterator[RegistryServer]:
    with registry_server() as registry:
        yield registry


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


def send(broker: Broker, topic: str, contents: list[bytes]) -> str:
    """Send the contents to one partition, and return the side."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 5})
    for content in contents:
        producer.produce(topic, content, key="k")
    assert producer.flush(DELIVERED_SECONDS_MAX) == 0
    return f"topic://{broker.bootstrap_servers}/{topic}"


def arrived(serialize: Serialize) -> list[bytes]:
    numbers = [number for number in range(ORDERS) if number != LOST]
    return [*map(serialize, (*numbers, TWICE, EXTRA)), *[b"{}"] * UNDECODABLE]


def compare(*arguments: str) -> Ended:
    return run("compare", *QUICK, *arguments, "--json", "-", seconds_max=RUN_SECONDS_MAX)


def found(ended: Ended) -> set[tuple[str, str | None, int]]:
    """Return the kind, the event id and the count of each finding."""
    assert ended.exit_code == 1, ended.log
    groups = json.loads(ended.output)["groups"]
    return {(group["kind"], example["event_id"], example["count"]) for group in groups for example in group["examples"]}


EXPECTED = {
    ("lost", str(LOST), 1),
    ("duplicated", str(TWICE), 1),
    ("extra", str(EXTRA), 1),
    ("no_event_id", None, UNDECODABLE),
}


def test_avro_on_one_side_and_protobuf_on_the_other_by_a_registry(broker: Broker, registry: RegistryServer) -> None:
    avro = avro_serializer(registry, AVRO_SCHEMA, "orders")
    protobuf = protobuf_serializer(registry, "shop.Order", "bills")
    left = send(broker, "orders", [avro({"number": number}) for number in range(ORDERS)])
    right = send(broker, "bills", arrived(lambda number: protobuf({"number": number})))

    ended = compare(
        *(left, right, "--schema-registry", registry.url),
        *("--left-event-id", "avro:number", "--right-event-id", "protobuf:number", "--left-where", "key = 'k'"),
    )

    # The contents differ, because the formats do.
    assert {one for one in found(ended) if one[0] != "changed"} == EXPECTED
    assert "2 cannot be decoded, such as: there is no schema id in front of it" in ended.output


def test_a_schema_file_for_each_side(broker: Broker, tmp_path: Path) -> None:
    (tmp_path / "order.avsc").write_text(AVRO_SCHEMA)
    (tmp_path / "order.desc").write_bytes(descriptor_set())
    message = message_class("shop.Order")
    left = send(broker, "by-file", [bytes([2 * number]) for number in range(ORDERS)])
    right = send(broker, "bills-by-file", arrived(lambda number: message(number=number).SerializeToString()))
    schemas = (
        *("--left-event-id", "avro:number", "--left-value-schema", str(tmp_path / "order.avsc")),
        *("--right-event-id", "protobuf:number", "--right-value-schema", str(tmp_path / "order.desc")),
        *("--right-value-message", "shop.Order"),
    )

    ended = compare(left, right, *schemas)

    assert {one for one in found(ended) if one[0] != "changed"} == EXPECTED


def test_records_that_all_cannot_be_decoded_are_one_line(broker: Broker, registry: RegistryServer) -> None:
    plain = send(broker, "plain", [b"{}"])

    ended = compare(plain, plain, "--event-id", "avro:number", "--schema-registry", registry.url)

    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.log.splitlines()[-1] == (
        f"fauxka: right: no record of {plain} has avro:number: there is no schema id in front of it"
    )
