"""Keys and values that the broker decodes by a schema registry or by schema files."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ..pipeline.confluent_contents import avro_serializer, protobuf_serializer
from ..pipeline.registry_server import RegistryServer, registry_server
from ..serving_process import Serving, serving
from .admin_client import AdminClient

FIELDS = '[{"name": "id", "type": "string"}, {"name": "sum", "type": "bytes"}]'
ORDER = f'{{"type": "record", "name": "Order", "fields": {FIELDS}}}'
RECORDS = "/v1/topics/orders/records"


@pytest.fixture(scope="module")
def registry() -> Iterator[RegistryServer]:
    with registry_server() as started:
        yield started


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, registry: RegistryServer) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("decoded")
    with serving(folder, "--admin-port", "0", "--seed-topic", "orders", "--schema-registry", registry.url) as started:
        yield started


@pytest.fixture
def admin(broker: Serving) -> AdminClient:
    assert broker.admin is not None
    return AdminClient(broker.admin)


def decoded(admin: AdminClient, **record: bytes) -> dict[str, Any]:
    """Append a record, and return it decoded."""
    body = {name: {"base64": base64.b64encode(data).decode()} for name, data in record.items()}
    (place,) = admin.post(RECORDS, {"records": [body]})["items"]
    found: dict[str, Any] = admin.get(f"{RECORDS}/decoded", partition=0, offset=place["offset"])
    return found


def test_avro_is_decoded_by_its_schema_id(admin: AdminClient, registry: RegistryServer) -> None:
    content = avro_serializer(registry, ORDER)({"id": "a", "sum": b"\xff"})

    found = decoded(admin, key=content, value=content)

    assert found["has_schemas"]
    assert found["key"] == found["value"]
    assert (found["value"]["kind"], found["value"]["schema_id"]) == ("avro", int.from_bytes(content[1:5], "big"))
    assert json.loads(found["value"]["json"]) == {"id": "a", "sum": "0xff"}


def test_message_of_protobuf_is_decoded_by_its_indexes(admin: AdminClient, registry: RegistryServer) -> None:
    content = protobuf_serializer(registry, "shop.Order.Line")({"sku": "a"})

    found = decoded(admin, value=content)

    assert (found["key"], found["value"]["kind"]) == (None, "protobuf")
    assert json.loads(found["value"]["json"]) == {"sku": "a"}


def test_content_of_a_json_schema_is_what_follows_the_schema_id(admin: AdminClient, registry: RegistryServer) -> None:
    schema_id = registry.register("json", {"schema": "{}", "schemaType": "JSON"})

    found = decoded(admin, value=b"\0" + schema_id.to_bytes(4, "big") + b'{"id": 1}')

    assert found["value"] == {"kind": "json", "schema_id": schema_id, "json": '{"id": 1}', "error": None}


def test_content_that_cannot_be_decoded_has_the_reason(admin: AdminClient) -> None:
    found = decoded(admin, key=b"plain", value=b"\0\0\0\xff\xff")

    assert found["key"]["error"] == "there is no schema id in front of it"
    assert found["value"]["error"] == "schema id 65535 is not in the registry (HTTP 404)"


def test_unknown_offset_is_404(admin: AdminClient) -> None:
    answer = admin.call("GET", f"{RECORDS}/decoded", partition=0, offset=1_000_000)

    assert (answer.status, answer.error["field"]) == (404, "offset")


def test_schema_file_decodes_values(tmp_path: Path) -> None:
    file = tmp_path / "text.avsc"
    file.write_text('"string"')
    with serving(tmp_path, "--admin-port", "0", "--seed-topic", "orders", "--value-schema", str(file)) as started:
        assert started.admin is not None

        found = decoded(AdminClient(started.admin), key=b"k", value=b"\x06tea")

    assert found["key"] is None
    assert found["value"] == {"kind": "avro", "schema_id": None, "json": '"tea"', "error": None}


def test_broker_without_schemas_decodes_nothing(tmp_path: Path) -> None:
    with serving(tmp_path, "--admin-port", "0", "--seed-topic", "orders") as started:
        assert started.admin is not None

        assert decoded(AdminClient(started.admin), value=b"tea") == {"has_schemas": False, "key": None, "value": None}
