"""Fields of Protobuf messages as text."""

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.json_format import ParseDict
from hypothesis import given
from hypothesis import strategies as st

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.schemas.protobuf_fields import (
    ProtobufFields,
    message_of_indexes,
    message_of_name,
    parse_descriptor_set,
)
from fauxka.pipeline.schemas.undecodable_content import UndecodableContent

from .order_schemas import descriptor_set, message_class, order_file, reference_file

ORDER = message_class("shop.Order")


def order(**fields: object) -> bytes:
    return ParseDict(fields, ORDER()).SerializeToString()


def fields_of(*paths: str) -> ProtobufFields:
    message = message_of_name(parse_descriptor_set(descriptor_set()), "shop.Order")
    return ProtobufFields(message, [tuple(path.split(".")) for path in paths])


@pytest.mark.parametrize(
    ("path", "given", "text"),
    [
        ("id", {"id": "a-7"}, "a-7"),
        ("id", {}, ""),
        ("number", {"number": -3}, "-3"),
        ("number", {}, "0"),
        ("is_paid", {"isPaid": True}, "true"),
        ("state", {"state": "PAID"}, "PAID"),
        ("state", {"state": 9}, "9"),
        ("token", {"token": "AGFi"}, "0x006162"),
        ("reference.uuid", {"reference": {"uuid": "u"}}, "u"),
        ("reference.uuid", {"reference": {}}, ""),
        ("reference.uuid", {}, None),
        ("batch", {"batch": 0}, "0"),
        ("batch", {}, None),
    ],
)
def test_a_field_is_the_text_of_its_type(path: str, given: dict[str, object], text: str | None) -> None:
    assert fields_of(path).texts(order(**given)) == (text,)


def test_several_fields_are_read_in_their_order() -> None:
    assert fields_of("number", "id").texts(order(id="a", number=4)) == ("4", "a")


def test_other_bytes_are_undecodable() -> None:
    with pytest.raises(UndecodableContent, match=r"^its bytes are no Protobuf message$"):
        fields_of("id").texts(b"\x0a\xff")


@given(st.binary(max_size=40))
def test_any_bytes_give_texts_or_are_undecodable(content: bytes) -> None:
    try:
        texts = fields_of("id").texts(content)
    except UndecodableContent:
        return
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nr", "shop.Order has no field nr; fields there are id, number, is_paid, "),
        ("reference.id", "shop.Reference has no field id; fields there are uuid"),
        ("id.x", "shop.Order.id is no message, so it has no field x"),
        ("reference", "shop.Order.reference is a message, which is no event id"),
        ("tags", "shop.Order.tags is repeated, which is no event id"),
        ("weight", "shop.Order.weight is a double, which is no event id"),
    ],
)
def test_a_path_without_a_scalar_field_is_one_line(path: str, words: str) -> None:
    with pytest.raises(BadOption, match=f"^{words}"):
        fields_of(path)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (None, "set the message to read; the schema has shop.Reference, shop.Empty, shop.Order"),
        ("Order", "the schema has no message Order; it has shop.Reference, shop.Empty, shop.Order"),
    ],
)
def test_another_message_is_one_line(name: str | None, words: str) -> None:
    with pytest.raises(BadOption, match=f"^{words}$"):
        message_of_name(parse_descriptor_set(descriptor_set()), name)


def test_the_only_message_needs_no_name() -> None:
    assert message_of_name([reference_file()], None).full_name == "shop.Reference"


@pytest.mark.parametrize(("indexes", "name"), [((0,), "shop.Empty"), ((1,), "shop.Order"), ((1, 0), "shop.Order.Line")])
def test_indexes_lead_to_a_message_of_the_last_file(indexes: tuple[int, ...], name: str) -> None:
    assert message_of_indexes([reference_file(), order_file()], indexes).full_name == name


def test_an_index_without_a_message_is_undecodable() -> None:
    with pytest.raises(UndecodableContent, match=r"^its schema has no message 1, 3$"):
        message_of_indexes([reference_file(), order_file()], (1, 3))


@pytest.mark.parametrize("content", [b"", b"\xff", b"syntax = 'proto3';"])
def test_another_file_is_no_descriptor_set(content: bytes) -> None:
    with pytest.raises(BadOption, match=r"^it is no descriptor set, as protoc --descriptor_set_out writes it$"):
        parse_descriptor_set(content)


def test_a_missing_import_is_one_line() -> None:
    files = parse_descriptor_set(FileDescriptorSet(file=[order_file()]).SerializeToString())

    with pytest.raises(BadOption, match=r"^the schema imports shop/reference.proto and does not contain it; protoc "):
        message_of_name(files, "shop.Order")


def test_googles_own_files_need_not_be_contained() -> None:
    file = FileDescriptorProto(name="a.proto", syntax="proto3", dependency=["google/protobuf/timestamp.proto"])
    file.message_type.add(name="A").field.add(
        name="at", number=1, type=11, type_name=".google.protobuf.Timestamp", label=1
    )

    assert ProtobufFields(message_of_name([file], "A"), [("at", "seconds")]).texts(b"\x0a\x02\x08\x05") == ("5",)


def test_a_file_that_does_not_fit_together_is_one_line() -> None:
    file = order_file()
    file.message_type[1].field[5].type_name = ".shop.Nothing"

    with pytest.raises(BadOption, match=r"^the Protobuf schema is invalid: .*$"):
        message_of_name([reference_file(), file], "shop.Order")
