"""The generated messages, compared field by field with the definitions in the jars of Kafka 4.4 and 3.9."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from fauxka.protocol.api_keys import APIS
from fauxka.protocol.apis.api import Release
from tools.message_generator.definitions import MessageField, MessageStruct, Primitive
from tools.message_generator.kio_source import messages_of

from ..each_case import check_each
from ..reference.kafka_process import reference_jars

pytestmark = pytest.mark.reference

# A version of Kafka, and its release.
NEWEST = (4, 4)
RELEASES = {"4.4.0": NEWEST, "3.9.1": (3, 9)}
# Kafka 4.4 has renamed this field in all versions; its meaning is the same.
OLD_NAMES = {("TxnOffsetCommitRequest", "generation_id_or_member_epoch"): "generation_id"}
LAST_VERSION = 2**15 - 1
TYPES = {"records": Primitive.DATA, "bytes": Primitive.DATA, "bool": Primitive.BOOLEAN}

Json = dict[str, Any]


@pytest.mark.parametrize("kafka_version", RELEASES)
def test_generated_messages_are_those_of_kafka(kafka_version: str) -> None:
    with ZipFile(Path(reference_jars(kafka_version)) / f"kafka-clients-{kafka_version}.jar") as jar:
        check_each(list(_messages(jar, RELEASES[kafka_version])), lambda compared: _compare(*compared))


def _messages(jar: ZipFile, release: Release) -> Iterator[tuple[str, tuple[MessageStruct, set[int], Json]]]:
    """Yield the messages of the newest release; of an earlier one those with versions that the newest lacks."""
    for api in APIS.values():
        versions = api.versions.advertised_in(release)
        if not versions or (release != NEWEST and versions[0] == api.versions.in_release(NEWEST)[0]):
            continue
        for message in messages_of(api.module):
            text = jar.read(f"common/message/{message.struct.name}.json").decode()
            definition: Json = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))
            yield message.struct.name, (message.struct, set(versions), definition)


def _compare(struct: MessageStruct, versions: set[int], definition: Json) -> None:
    versions = versions & _versions(definition["validVersions"])
    assert struct.versions & versions == versions
    assert struct.flexible & versions == _versions(definition["flexibleVersions"]) & versions
    common = {each["name"]: each for each in definition.get("commonStructs", ())}
    _compare_fields(struct, definition["fields"], versions, common)


def _compare_fields(struct: MessageStruct, fields: list[Json], within: set[int], common: Mapping[str, Json]) -> None:
    expected = {_name(struct, each): each for each in fields if _versions(each["versions"]) & within}
    found = {field.name: field for field in struct.fields if field.present & within}
    assert set(found) == set(expected), struct.name
    for version in within:
        order = [name for name, each in expected.items() if version in _versions(each["versions"])]
        assert [field.name for field in struct.fields if version in field.present] == order, struct.name
    for name, field in found.items():
        _compare_field(f"{struct.name}.{name}", field, expected[name], within)
        if isinstance(field.type, MessageStruct):
            inner = expected[name].get("fields") or common[expected[name]["type"].removeprefix("[]")]["fields"]
            _compare_fields(field.type, inner, within & field.present, common)


def _compare_field(place: str, field: MessageField, definition: Json, within: set[int]) -> None:
    present = _versions(definition["versions"])
    nullable = _versions(definition.get("nullableVersions", "none")) & present
    tagged = _versions(definition.get("taggedVersions", "none")) & present
    assert field.present & within == present & within, place
    assert field.nullable & within == nullable & within, place
    assert field.tagged & within == tagged & within, place
    assert field.tag == definition.get("tag"), place
    kafka_type: str = definition["type"]
    assert field.is_array == kafka_type.startswith("[]"), place
    if isinstance(field.type, Primitive):
        name = kafka_type.removeprefix("[]")
        assert field.type is (TYPES.get(name) or Primitive(name)), place
        assert field.default == _default(field, definition), place


def _name(struct: MessageStruct, definition: Json) -> str:
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", definition["name"]).lower()
    return OLD_NAMES.get((struct.name, name), name)


def _versions(text: str) -> frozenset[int]:
    """Return the versions of Kafka's notation: "3+", "0-5", "4" or "none"."""
    if text == "none":
        return frozenset()
    first, dash, last = text.rstrip("+").partition("-")
    if text.endswith("+"):
        return frozenset(range(int(first), LAST_VERSION))
    return frozenset(range(int(first), int(last if dash else first) + 1))


def _default(field: MessageField, definition: Json) -> str:
    """Return the Python expression of Kafka's default."""
    given = str(definition.get("default", "")) if definition.get("default") is not None else ""
    if given == "null":
        return "None"
    if field.is_array:
        return "[]"
    match field.type:
        case Primitive.BOOLEAN:
            return str(given.lower() == "true")
        case Primitive.STRING:
            return f'"{given}"'
        case Primitive.DATA:
            return "None" if field.nullable and definition["type"] == "records" else 'b""'
        case Primitive.UUID:
            return "ZERO_UUID"
        case Primitive.FLOAT64:
            return str(float(given or 0))
        case _:
            return str(int(given or "0", 0))
