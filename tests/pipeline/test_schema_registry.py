"""The client of a schema registry, and contents that are read by its schemas."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.schemas import schema_registry
from fauxka.pipeline.schemas.field_source import SCHEMAS_MAX, FieldSource, SchemaFile, Texts, open_source
from fauxka.pipeline.schemas.schema_options import Format
from fauxka.pipeline.schemas.schema_registry import SchemaRegistry, parse_registry
from fauxka.pipeline.schemas.undecodable_content import UndecodableContent

from .confluent_contents import avro_serializer, protobuf_serializer
from .order_schemas import descriptor_set
from .registry_server import RegistryServer, registry_server

ID_SCHEMA = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "string"}]}'


@pytest.fixture
def registry() -> Iterator[RegistryServer]:
    with registry_server() as registry:
        yield registry


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_registry, "RETRY_SECONDS", (0.0, 0.0))


def reader(registry: RegistryServer, form: Format, *paths: str) -> Callable[[bytes], Texts]:
    fields = tuple(tuple(path.split(".")) for path in paths)
    return open_source(FieldSource(form, fields, SchemaRegistry(registry.url), is_framed=True))


def avro_content(registry: RegistryServer, schema: str | Schema, value: dict[str, Any]) -> bytes:
    return avro_serializer(registry, schema)(value)


def protobuf_content(registry: RegistryServer, name: str, **fields: str) -> bytes:
    return protobuf_serializer(registry, name)(fields)


def test_avro_is_read_by_the_schema_of_its_id(registry: RegistryServer) -> None:
    read = reader(registry, "avro", "id")
    other = ID_SCHEMA.replace('"fields": [', '"fields": [{"name": "number", "type": "long"}, ')

    assert read(avro_content(registry, ID_SCHEMA, {"id": "a"})) == ("a",)
    assert read(avro_content(registry, other, {"id": "b", "number": 7})) == ("b",)


def test_avro_with_referenced_schemas_is_read(registry: RegistryServer) -> None:
    registry.register("order", {"schema": ID_SCHEMA})
    wrapper = {"type": "record", "name": "Sent", "fields": [{"name": "order", "type": "Order"}]}
    schema = Schema(json.dumps(wrapper), "AVRO", [SchemaReference("Order", "order", 1)])

    content = avro_content(registry, schema, {"order": {"id": "a"}})

    assert reader(registry, "avro", "order.id")(content) == ("a",)


@pytest.mark.parametrize(("name", "field", "texts"), [("shop.Order", "id", ("a",)), ("shop.Order.Line", "sku", ("a",))])
def test_protobuf_is_read_by_the_message_of_its_indexes(
    registry: RegistryServer, name: str, field: str, texts: Texts
) -> None:
    content = protobuf_content(registry, name, **{field: "a"})

    assert reader(registry, "protobuf", field)(content) == texts


def test_the_first_message_has_no_indexes(registry: RegistryServer) -> None:
    content = protobuf_content(registry, "shop.Reference", uuid="u")

    assert content[5] == 0
    assert reader(registry, "protobuf", "uuid")(content) == ("u",)


def test_each_schema_is_requested_once(registry: RegistryServer) -> None:
    content = avro_content(registry, ID_SCHEMA, {"id": "a"})
    read = reader(registry, "avro", "id")
    registry.paths.clear()

    for _ in range(3):
        read(content)
        with pytest.raises(UndecodableContent):
            read(b"\x00\x00\x00\x00\x63")

    assert registry.paths == ["/schemas/ids/1", "/schemas/ids/99"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "there is no schema id in front of it"),
        (b'{"id": 7}', "there is no schema id in front of it"),
        (b"\x00\x00\x00\x00\x63a", "schema id 99 is not in the registry (HTTP 404)"),
        (b"\x00\x00\x00\x00\x01\x08a", "its bytes are not of the Avro schema"),
        (b"\x00\x00\x00\x00\x02a", "schema id 2 is JSON, not AVRO"),
        (b"\x00\x00\x00\x00\x03a", "schema id 3: the Avro schema has no field id; fields there are none"),
        (b"\x00\x00\x00\x00\x04a", "the referenced schema Nothing is not in the registry (HTTP 404)"),
    ],
)
def test_a_content_that_cannot_be_decoded_has_a_reason(registry: RegistryServer, content: bytes, words: str) -> None:
    registry.register("order", {"schema": ID_SCHEMA})
    registry.register("json", {"schema": "{}", "schemaType": "JSON"})
    registry.register("other", {"schema": '{"type": "record", "name": "Other", "fields": []}'})
    nothing = {"name": "Nothing", "subject": "a/b", "version": 1}
    registry.register("sent", {"schema": '"Nothing"', "references": [nothing]})

    with pytest.raises(UndecodableContent) as raised:
        reader(registry, "avro", "id")(content)

    assert str(raised.value) == words


def test_a_registry_without_serialized_descriptors_is_told(registry: RegistryServer) -> None:
    registry.register("order", {"schema": 'syntax = "proto3";', "schemaType": "PROTOBUF"})

    with pytest.raises(UndecodableContent, match=r"^schema id 1: the registry returns no serialized descriptors; set "):
        reader(registry, "protobuf", "id")(b"\x00\x00\x00\x00\x01\x00")


@pytest.mark.parametrize(
    "indexes", [b"", b"\x80", b"\x01", b"\x04\x02", b"\xff\xff\xff\xff\xff\x01", b"\xfe\xff\x03\x00"]
)
def test_invalid_message_indexes_are_undecodable(registry: RegistryServer, indexes: bytes) -> None:
    with pytest.raises(UndecodableContent, match=r"^(its message indexes are invalid|it has 32767 message indexes)$"):
        reader(registry, "protobuf", "id")(b"\x00\x00\x00\x00\x01" + indexes)


def test_bytes_that_look_like_ids_do_not_fill_the_memory(registry: RegistryServer) -> None:
    read = reader(registry, "avro", "id")
    problems: list[str] = []

    for number in range(SCHEMAS_MAX + 5):
        with pytest.raises(UndecodableContent) as raised:
            read(b"\x00" + (1000 + number).to_bytes(4))
        problems.append(str(raised.value))

    assert len(registry.paths) == SCHEMAS_MAX
    assert problems[-1] == f"it has another schema than the first {SCHEMAS_MAX}"


def test_a_schema_file_is_used_whatever_the_schema_id(registry: RegistryServer) -> None:
    avro = FieldSource("avro", (("id",),), SchemaFile(ID_SCHEMA.encode()), is_framed=True)
    protobuf = FieldSource("protobuf", (("id",),), SchemaFile(descriptor_set(), "shop.Order"), is_framed=True)

    assert open_source(avro)(b"\x00\x00\x00\x00\x63" + b"\x02a") == ("a",)
    assert open_source(protobuf)(protobuf_content(registry, "shop.Order", id="a")) == ("a",)


def test_schema_ids_of_eight_bytes_are_read(registry: RegistryServer) -> None:
    registry.register("order", {"schema": ID_SCHEMA})
    by_id = FieldSource("avro", (("id",),), SchemaRegistry(registry.url), is_framed=True, id_bytes=8)
    by_file = FieldSource("avro", (("id",),), SchemaFile(ID_SCHEMA.encode()), is_framed=True, id_bytes=8)

    assert open_source(by_id)(b"\x00" + (1).to_bytes(8) + b"\x02a") == ("a",)
    assert open_source(by_file)(b"\x00" + (2**40).to_bytes(8) + b"\x02b") == ("b",)


def test_whole_id_of_eight_bytes_is_requested(registry: RegistryServer) -> None:
    source = FieldSource("avro", (("id",),), SchemaRegistry(registry.url), is_framed=True, id_bytes=8)

    with pytest.raises(UndecodableContent, match=r"^schema id 1099511627777 is not in the registry"):
        open_source(source)(b"\x00" + (2**40 + 1).to_bytes(8) + b"\x02a")


@pytest.mark.parametrize("size", range(9))
def test_content_that_ends_within_an_id_of_eight_bytes_is_undecodable(registry: RegistryServer, size: int) -> None:
    source = FieldSource("avro", (("id",),), SchemaRegistry(registry.url), is_framed=True, id_bytes=8)

    with pytest.raises(UndecodableContent, match=r"^there is no schema id in front of it$"):
        open_source(source)(bytes(size))


@pytest.mark.parametrize("statuses", [[503], [500, 429]])
def test_a_registry_that_is_unavailable_for_a_moment_is_asked_again(
    registry: RegistryServer, statuses: list[int]
) -> None:
    content = avro_content(registry, ID_SCHEMA, {"id": "a"})
    registry.statuses = statuses

    assert reader(registry, "avro", "id")(content) == ("a",)


def test_a_response_that_breaks_off_is_requested_again(registry: RegistryServer) -> None:
    content = avro_content(registry, ID_SCHEMA, {"id": "a"})
    registry.broken_off = 2

    assert reader(registry, "avro", "id")(content) == ("a",)


@pytest.mark.parametrize(
    ("statuses", "words"),
    [([503] * 5, "HTTP 503"), ([302], "HTTP 302"), ([418], "HTTP 418"), ([403], "HTTP 403: set ")],
)
def test_a_registry_that_fails_is_one_line(registry: RegistryServer, statuses: list[int], words: str) -> None:
    registry.statuses = statuses

    with pytest.raises(BadOption) as raised:
        reader(registry, "avro", "id")(b"\x00\x00\x00\x00\x01")

    assert str(raised.value).startswith(f"schema-registry: {registry.url}: {words}")


def test_a_registry_that_cannot_be_reached_is_one_line() -> None:
    with pytest.raises(BadOption) as raised:
        SchemaRegistry("http://127.0.0.1:1").check()

    assert str(raised.value) == "schema-registry: http://127.0.0.1:1: Connection refused"


def test_another_server_is_one_line(registry: RegistryServer) -> None:
    registry.schemas[1] = {"name": "no schema"}

    with pytest.raises(BadOption, match=r"does not respond as a schema registry$"):
        reader(registry, "avro", "id")(b"\x00\x00\x00\x00\x01")


def test_a_response_is_limited(registry: RegistryServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_registry, "RESPONSE_BYTES_MAX", 100)
    registry.register("order", {"schema": ID_SCHEMA + " " * 100})

    with pytest.raises(BadOption, match=r": a response of more than 100 bytes$"):
        reader(registry, "avro", "id")(b"\x00\x00\x00\x00\x01")


def test_circular_references_end(registry: RegistryServer) -> None:
    itself = {"name": "Order", "subject": "order", "version": 1}
    registry.register("order", {"schema": ID_SCHEMA, "references": [itself]})

    found = SchemaRegistry(registry.url).schema_of(1)

    assert [one.name for one in found.references] == ["Order"]


@pytest.mark.parametrize("is_in_url", [True, False])
def test_the_user_is_sent_and_not_shown(registry: RegistryServer, is_in_url: bool) -> None:
    registry.authorization = "Basic YWxpY2U6YTpi"
    url = registry.url.replace("://", "://alice:a%3Ab@") if is_in_url else registry.url
    asked = parse_registry(url + "/", None if is_in_url else "alice:a:b")

    asked.check()

    assert asked.url == registry.url
    assert "alice" not in repr(asked)


def test_a_wrong_user_is_one_line(registry: RegistryServer) -> None:
    registry.authorization = "Basic YWxpY2U6YTpi"

    with pytest.raises(BadOption, match=r": HTTP 401: set --schema-registry-user$"):
        parse_registry(registry.url, None).check()
    with pytest.raises(BadOption, match=r": HTTP 401: the user or the password is wrong$"):
        parse_registry(registry.url, "alice:b").check()


@pytest.mark.parametrize(
    ("url", "user", "words"),
    [
        ("localhost:8081", None, "schema-registry: must be http://HOST:PORT or https://HOST:PORT, not localhost:8081"),
        ("http://", None, "schema-registry: must be http://HOST:PORT or https://HOST:PORT, not http://"),
        ("http://a:b@:1", None, "schema-registry: must be http://HOST:PORT or https://HOST:PORT, not that URL"),
        ("http://a:70000", None, "schema-registry: must be http://HOST:PORT or https://HOST:PORT, not http://a:70000"),
        ("http://[a", None, "schema-registry: must be http://HOST:PORT or https://HOST:PORT, not http://[a"),
        ("http://a?b=c", None, "schema-registry: must be http://HOST:PORT or https://HOST:PORT, not http://a?b=c"),
        ("http://a", "alice", "schema-registry-user: must be USER:PASSWORD"),
    ],
)
def test_an_invalid_registry_is_one_line(url: str, user: str | None, words: str) -> None:
    with pytest.raises(BadOption) as raised:
        parse_registry(url, user)

    assert str(raised.value) == words
