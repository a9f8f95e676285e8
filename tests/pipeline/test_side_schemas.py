"""Which schemas the event id of each side of a comparison is decoded by."""

import pytest

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.compare.side_schemas import check_shared_used, schemas_of_side
from fauxka.pipeline.schemas.schema_options import NO_SCHEMAS, SchemaOptions

REGISTRY = SchemaOptions(schema_registry="http://a", schema_registry_user="u:p")
FILES = SchemaOptions(key_schema="k.avsc", value_schema="v.desc", value_message="shop.Order", is_framed=True)


@pytest.mark.parametrize(
    ("event_id", "own", "shared", "expected"),
    [
        (None, NO_SCHEMAS, REGISTRY, NO_SCHEMAS),
        ("column:id", NO_SCHEMAS, FILES, NO_SCHEMAS),
        ("avro:id", NO_SCHEMAS, REGISTRY, REGISTRY),
        ("avro-key:id", NO_SCHEMAS, FILES, SchemaOptions(key_schema="k.avsc", is_framed=True)),
        (
            "header:h+protobuf:id",
            NO_SCHEMAS,
            FILES,
            SchemaOptions(value_schema="v.desc", value_message="shop.Order", is_framed=True),
        ),
        ("avro:id", SchemaOptions(value_schema="own.avsc"), REGISTRY, SchemaOptions(value_schema="own.avsc")),
        (
            "avro:id+avro-key:id",
            SchemaOptions(value_schema="own.avsc"),
            REGISTRY,
            SchemaOptions(value_schema="own.avsc", schema_registry="http://a", schema_registry_user="u:p"),
        ),
        ("avro:id", SchemaOptions(schema_registry="http://b"), FILES, SchemaOptions(schema_registry="http://b")),
        (
            "avro:id",
            NO_SCHEMAS,
            SchemaOptions(schema_registry="http://a", schema_id_bytes=8),
            SchemaOptions(schema_registry="http://a", schema_id_bytes=8),
        ),
        (
            "protobuf:id",
            NO_SCHEMAS,
            SchemaOptions(schema_registry="http://a", schema_id_bytes=8),
            SchemaOptions(schema_registry="http://a"),
        ),
        ("key", SchemaOptions(value_schema="own.avsc"), NO_SCHEMAS, SchemaOptions(value_schema="own.avsc")),
    ],
)
def test_a_side_has_its_own_schemas_and_those_of_both_that_it_needs(
    event_id: str | None, own: SchemaOptions, shared: SchemaOptions, expected: SchemaOptions
) -> None:
    assert schemas_of_side(event_id, own, shared) == expected


def test_a_schema_that_one_side_uses_is_accepted() -> None:
    sides = [schemas_of_side(text, NO_SCHEMAS, FILES) for text in ("avro-key:id", "protobuf:id")]

    check_shared_used(FILES, sides)


@pytest.mark.parametrize(
    ("shared", "option"),
    [
        (SchemaOptions(value_schema="v"), "value-schema"),
        (SchemaOptions(key_message="v"), "key-message"),
        (SchemaOptions(is_framed=True), "confluent-header"),
        (SchemaOptions(schema_id_bytes=8), "schema-id-bytes"),
        (SchemaOptions(schema_registry="http://a"), "schema-registry"),
    ],
)
def test_a_schema_that_neither_side_uses_is_refused(shared: SchemaOptions, option: str) -> None:
    sides = [schemas_of_side(text, NO_SCHEMAS, shared) for text in ("key", None)]

    with pytest.raises(BadOption) as raised:
        check_shared_used(shared, sides)

    assert str(raised.value) == f"{option}: the event id of neither side needs it; it is for fields such as avro:id"
