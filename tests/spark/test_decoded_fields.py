"""Event ids with fields of Avro and Protobuf over a frame, and invalid schema options."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.checks.decoded_fields import with_decoded_fields
from fauxka.pipeline.checks.event_id import decode_problem, event_id_column, is_empty_id
from fauxka.pipeline.checks.event_id_schemas import check_event_id, describe_schemas
from fauxka.pipeline.schemas.schema_options import SchemaOptions

from ..pipeline.order_schemas import descriptor_set, message_class
from ..pipeline.registry_server import RegistryServer, registry_server
from .frames import record, records

pytestmark = pytest.mark.spark

SCHEMA = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "string"}, {"name": "n", "type": "int"}]}
# {"id": "a", "n": 7}
VALUE = b"\x02a\x0e"


@pytest.fixture
def schema(tmp_path: Path) -> str:
    (tmp_path / "order.avsc").write_text(json.dumps(SCHEMA))
    return str(tmp_path / "order.avsc")


@pytest.fixture
def descriptors(tmp_path: Path) -> str:
    (tmp_path / "order.desc").write_bytes(descriptor_set())
    return str(tmp_path / "order.desc")


@pytest.fixture
def registry() -> Iterator[RegistryServer]:
    with registry_server() as registry:
        yield registry


def ids(
    spark: SparkSession, text: str, schemas: SchemaOptions, *rows: dict[str, object]
) -> list[tuple[str | None, bool, str | None]]:
    """Return the event id of each record, whether it is empty, and its problem."""
    decoded = with_decoded_fields(records(spark, *rows), text, schemas)
    columns = (event_id_column(text), is_empty_id(text), decode_problem(text))
    return [(row[0], row[1], row[2]) for row in decoded.select(*columns).collect()]


def test_a_record_without_the_field_has_no_event_id(spark: SparkSession, schema: str) -> None:
    found = ids(
        spark,
        "avro:id",
        SchemaOptions(value_schema=schema),
        *(record(0, None, value=VALUE), record(1, None, value=None), record(2, None, value=b"\x00\x0e")),
        record(3, None, value=b"{}"),
    )

    assert found == [
        ("a", False, None),
        (None, False, None),
        (None, True, None),
        (None, False, "its bytes are not of the Avro schema"),
    ]


def test_schema_ids_of_eight_bytes_are_skipped(spark: SparkSession, schema: str) -> None:
    header = b"\x00" + (2**40).to_bytes(8)

    found = ids(
        spark,
        "avro:id",
        SchemaOptions(value_schema=schema, is_framed=True, schema_id_bytes=8),
        *(record(0, None, value=header + VALUE), record(1, None, value=VALUE)),
    )

    assert found == [("a", False, None), (None, False, "there is no schema id in front of it")]


def test_parts_of_key_value_and_header_are_in_the_order_of_the_text(
    spark: SparkSession, schema: str, descriptors: str
) -> None:
    key = message_class("shop.Order")(id="k").SerializeToString()
    schemas = SchemaOptions(value_schema=schema, key_schema=descriptors, key_message="shop.Order")

    found = ids(
        spark,
        "avro:n+header:h+protobuf-key:id+avro:id",
        schemas,
        *(record(0, key, value=VALUE, headers=[("h", b"x")]), record(1, b"\xff", value=VALUE, headers=[("h", b"x")])),
    )

    assert found == [('["7","x","k","a"]', False, None), (None, False, "its bytes are no Protobuf message")]


def test_other_columns_are_left_as_they_are(spark: SparkSession, schema: str) -> None:
    given = records(spark, record(0, "k", value=VALUE, headers=[("h", b"x")]), record(1, None, damage="a wrong CRC"))

    decoded = with_decoded_fields(given, "avro:id", SchemaOptions(value_schema=schema))

    assert decoded.drop("decoded_fields").collect() == given.collect()


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("avro:id", {}, "event-id: avro:id needs --value-schema or --schema-registry"),
        ("avro-key", {}, "event-id: avro-key needs --key-schema or --schema-registry"),
        ("avro:order id", {}, "event-id: order id is not a field like id or order.id"),
        ("protobuf", {}, "event-id: must be key, header:NAME, json:$.path, avro:field or protobuf:field, or "),
        (
            "avro:id+protobuf:id",
            {"value_schema": "{schema}"},
            "event-id: the value is either Avro or Protobuf, not both",
        ),
        ("avro:id", {"value_schema": "no.avsc"}, "value-schema: no.avsc cannot be read: No such file or directory"),
        ("avro:id", {"value_schema": "{descriptors}"}, "value-schema: {descriptors}: the Avro schema is invalid: "),
        (
            "avro:x",
            {"value_schema": "{schema}"},
            "value-schema: {schema}: the Avro schema has no field x; fields there",
        ),
        ("avro", {"value_schema": "{schema}"}, "value-schema: {schema}: the content is a record, which is no event id"),
        (
            "avro-key:x",
            {"key_schema": "{schema}"},
            "key-schema: {schema}: the Avro schema has no field x; fields there",
        ),
        ("protobuf:id", {"value_schema": "{schema}"}, "value-schema: {schema}: it is no descriptor set, as protoc "),
        (
            "protobuf:id",
            {"value_schema": "{descriptors}"},
            "value-schema: {descriptors}: set the message to read; the schema has ",
        ),
        (
            "protobuf:id",
            {"value_schema": "{descriptors}", "value_message": "Order"},
            "value-schema: {descriptors}: the schema has no message Order; it has shop.Reference, shop.Empty, ",
        ),
        (
            "protobuf:tags",
            {"value_schema": "{descriptors}", "value_message": "shop.Order"},
            "value-schema: {descriptors}: shop.Order.tags is repeated, which is no event id",
        ),
        ("key", {"value_schema": "{schema}"}, "value-schema: no part of --event-id is a field of the value"),
        ("avro:id", {"value_schema": "{schema}", "value_message": "A"}, "value-message: is for a field of Protobuf "),
        (
            "avro-key",
            {"schema_registry": "here"},
            "schema-registry: must be http://HOST:PORT or https://HOST:PORT, not ",
        ),
        ("key", {"schema_registry": "http://a"}, "schema-registry: no part of --event-id is a field that needs it"),
        (
            "avro:id",
            {"schema_registry": "http://127.0.0.1:1"},
            "schema-registry: http://127.0.0.1:1: Connection refused",
        ),
        (
            "avro:id",
            {"schema_registry": "http://a", "is_framed": True},
            "confluent-header: is for a schema file; with a registry the header is always read",
        ),
    ],
)
def test_invalid_schema_options_are_one_line(
    text: str, options: dict[str, str | bool], words: str, schema: str, descriptors: str
) -> None:
    files = {"{schema}": schema, "{descriptors}": descriptors}
    given = {name: files.get(str(value), value) for name, value in options.items()}

    with pytest.raises(BadOption) as raised:
        check_event_id(text, SchemaOptions(**given))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

    assert str(raised.value).startswith(words.format(schema=schema, descriptors=descriptors))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("text", "package"), [("avro:id", "fastavro"), ("protobuf:id", "protobuf")])
def test_a_missing_package_is_one_line(monkeypatch: pytest.MonkeyPatch, schema: str, text: str, package: str) -> None:
    monkeypatch.setitem(sys.modules, {"protobuf": "google.protobuf"}.get(package, package), None)

    with pytest.raises(BadOption) as raised:
        check_event_id(text, SchemaOptions(value_schema=schema))

    assert str(raised.value) == (
        f"event-id: {text.partition(':')[0]} needs the package {package}; install it, also on workers:"
        " pip install 'fauxka[schemas]'"
    )


def test_a_registry_that_fails_in_a_job_is_in_the_message_of_spark(
    spark: SparkSession, registry: RegistryServer
) -> None:
    schemas = SchemaOptions(schema_registry=registry.url)
    check_event_id("avro:id", schemas)
    registry.statuses = [403]

    with pytest.raises(
        Exception, match=f"BadOption: schema-registry: {registry.url}: HTTP 403: set --schema-registry-"
    ):
        ids(spark, "avro:id", schemas, record(0, None, value=b"\x00\x00\x00\x00\x01" + VALUE))


def test_a_checkpoint_is_of_the_content_of_a_schema_file(schema: str, descriptors: str, tmp_path: Path) -> None:
    (tmp_path / "moved.avsc").write_bytes(Path(schema).read_bytes())
    (tmp_path / "other.avsc").write_text(json.dumps({**SCHEMA, "doc": "Another one."}))
    moved, other = str(tmp_path / "moved.avsc"), str(tmp_path / "other.avsc")

    described = [describe_schemas("avro:id", SchemaOptions(value_schema=one)) for one in (schema, moved, other)]
    framed = SchemaOptions(value_schema=schema, is_framed=True, schema_id_bytes=8)
    assert str(describe_schemas("avro:id", framed)).endswith("header with schema ids of 8 bytes")
    by_registry = describe_schemas("avro:id", SchemaOptions(schema_registry="http://alice:secret@a:8081"))

    assert described[0] == described[1] != described[2]
    assert by_registry == "value by http://a:8081"
    assert describe_schemas("key", SchemaOptions()) is None
