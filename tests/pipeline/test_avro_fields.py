"""Fields of Avro contents as text."""

import io
import json
import re
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.schemas.avro_fields import AvroFields
from fauxka.pipeline.schemas.undecodable_content import UndecodableContent

from .order_schemas import ORDER_TEXT, REFERENCE

UUID_TEXT = "0d3ef2c8-8a3b-4f0e-9b1a-6f6c9e2d7a11"
ORDER_VALUE: dict[str, Any] = {
    "id": 7,
    "number": -3,
    "is_paid": True,
    "state": "PAID",
    "token": b"\x00ab",
    "price": b"\x04\xd2",
    "at": 1_700_000_000_000,
    "weight": 0.5,
    "items": ["a"],
    "reference": {"uuid": UUID_TEXT, "digest": b"\xff\x00"},
    "previous": None,
}


# The schema without logical types, so that values are written as they are.
PLAIN = json.loads(re.sub(r', "logicalType": "[a-z-]+"', "", ORDER_TEXT))


def written(value: Any, schema: Any = PLAIN) -> bytes:
    file = io.BytesIO()
    fastavro.schemaless_writer(file, fastavro.parse_schema(schema), value)  # pyright: ignore[reportUnknownMemberType]
    return file.getvalue()


def order(**others: Any) -> bytes:
    return written({**ORDER_VALUE, **others})


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("id", "7"),
        ("number", "-3"),
        ("is_paid", "true"),
        ("state", "PAID"),
        ("token", "0x006162"),
        ("price", "12.34"),
        ("at", "1700000000000"),
        ("reference.uuid", UUID_TEXT),
        ("reference.digest", "0xff00"),
        ("previous.uuid", None),
    ],
)
def test_a_field_is_the_text_of_its_type(path: str, text: str | None) -> None:
    assert AvroFields(ORDER_TEXT, (), [tuple(path.split("."))]).texts(order()) == (text,)


def test_a_uuid_has_one_text_in_each_spelling() -> None:
    content = order(reference={"uuid": UUID_TEXT.upper(), "digest": None})

    assert AvroFields(ORDER_TEXT, (), [("reference", "uuid")]).texts(content) == (UUID_TEXT,)


def test_each_branch_of_a_union_has_its_text() -> None:
    fields = AvroFields(ORDER_TEXT, (), [("id",)])

    assert [fields.texts(order(id=one)) for one in (7, "a-7", None)] == [("7",), ("a-7",), (None,)]


def test_several_fields_are_read_in_their_order() -> None:
    assert AvroFields(ORDER_TEXT, (), [("number",), ("id",)]).texts(order()) == ("-3", "7")


@pytest.mark.parametrize(("schema", "value", "text"), [('"string"', "a", "a"), ('{"type": "long"}', 5, "5")])
def test_a_content_that_is_a_scalar_has_no_path(schema: str, value: object, text: str) -> None:
    assert AvroFields(schema, (), [()]).texts(written(value, json.loads(schema))) == (text,)


def test_a_union_of_referenced_records_has_the_fields_of_each() -> None:
    cancelled = {"type": "record", "name": "shop.Cancelled", "fields": [{"name": "order", "type": "string"}]}
    union = ["shop.Reference", "shop.Cancelled"]
    referenced = [json.dumps(REFERENCE), json.dumps(cancelled)]
    fields = AvroFields(json.dumps(union), referenced, [("order",), ("uuid",)])
    whole = [PLAIN["fields"][9]["type"][1], cancelled]

    assert fields.texts(written({"order": "a"}, whole)) == ("a", None)
    assert fields.texts(written({"uuid": UUID_TEXT, "digest": None}, whole)) == (None, UUID_TEXT)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "its bytes are not of the Avro schema"),
        (order()[:-3], "its bytes are not of the Avro schema"),
        (order() + b"\x00", "it has more bytes than the Avro schema describes"),
        (order(reference={"uuid": "none", "digest": None}), "its bytes are not of the Avro schema"),
    ],
)
def test_another_content_is_undecodable(content: bytes, words: str) -> None:
    with pytest.raises(UndecodableContent, match=f"^{words}$"):
        AvroFields(ORDER_TEXT, (), [("id",)]).texts(content)


@given(st.binary(max_size=60) | st.binary(max_size=8).map(lambda end: order()[:20] + end))
def test_any_bytes_give_texts_or_are_undecodable(content: bytes) -> None:
    try:
        texts = AvroFields(ORDER_TEXT, (), [("id",)]).texts(content)
    except UndecodableContent:
        return
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nr", "the Avro schema has no field nr; fields there are id, number, is_paid, "),
        ("reference.id", "the Avro schema has no field reference.id; fields there are uuid, digest"),
        ("id.x", "the Avro schema has no field id.x; fields there are none"),
        ("reference", "reference is a record, which is no event id"),
        ("items", "items is an array, which is no event id"),
        ("weight", "weight is a double, which is no event id"),
        ("", "the content is a record, which is no event id"),
    ],
)
def test_a_path_without_a_scalar_field_is_one_line(path: str, words: str) -> None:
    with pytest.raises(BadOption, match=f"^{words}"):
        AvroFields(ORDER_TEXT, (), [tuple(path.split(".")) if path else ()])


@pytest.mark.parametrize(
    "schema", ["", "{", "7", "{}", '"shop.Order"', '{"type": "record", "fields": []}', '["null", 7]']
)
def test_an_invalid_schema_is_one_line(schema: str) -> None:
    with pytest.raises(BadOption, match=r"^the Avro schema is invalid: .*$"):
        AvroFields(schema, (), [("id",)])


NESTED = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "string"}, {"name": "before", "type": ["null", "Order"]}],
}


def test_a_schema_that_reaches_itself_is_read() -> None:
    content = written({"id": "a", "before": {"id": "b", "before": None}}, NESTED)

    assert AvroFields(json.dumps(NESTED), (), (("id",), ("before", "id"))).texts(content) == ("a", "b")


def test_values_that_nest_deeper_than_the_stack_are_undecodable() -> None:
    content = b"\x02a\x02" * 100_000 + b"\x02a\x00"

    with pytest.raises(UndecodableContent, match="its bytes are not of the Avro schema"):
        AvroFields(json.dumps(NESTED), (), (("id",),)).texts(content)
