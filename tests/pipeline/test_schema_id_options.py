"""The option for schema ids of eight bytes: what it is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.checks.event_id_schemas import describe_schemas, field_sources
from fauxka.pipeline.schemas.schema_options import SchemaOptions

from .order_schemas import descriptor_set

ID_SCHEMA = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "string"}]}'


@pytest.fixture
def schema(tmp_path: Path) -> str:
    file = tmp_path / "order.avsc"
    file.write_text(ID_SCHEMA)
    return str(file)


def test_sources_of_files_and_registries_have_the_bytes_of_their_ids(schema: str) -> None:
    by_file = SchemaOptions(value_schema=schema, is_framed=True, schema_id_bytes=8)
    by_registry = SchemaOptions(schema_registry="http://127.0.0.1:1", schema_id_bytes=8)

    assert field_sources("avro:id", by_file)["value"].id_bytes == 8
    assert field_sources("avro-key:id", by_registry)["key"].id_bytes == 8
    assert str(describe_schemas("avro:id", by_registry)).endswith("with schema ids of 8 bytes")
    assert "bytes" not in str(describe_schemas("avro:id", SchemaOptions(value_schema=schema)))


def test_ids_of_eight_bytes_without_a_header_are_refused(schema: str) -> None:
    with pytest.raises(BadOption, match=r"^schema-id-bytes: is for contents with a schema id: --confluent-header or "):
        field_sources("avro:id", SchemaOptions(value_schema=schema, schema_id_bytes=8))


def test_ids_of_eight_bytes_in_front_of_protobuf_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "order.desc"
    file.write_bytes(descriptor_set())
    options = SchemaOptions(value_schema=str(file), value_message="shop.Order", is_framed=True, schema_id_bytes=8)

    with pytest.raises(BadOption, match=r"^schema-id-bytes: 8 is for Avro; in front of Protobuf Apicurio "):
        field_sources("protobuf:id", options)
