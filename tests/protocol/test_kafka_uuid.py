"""Kafka's Uuid as text and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.protocol.kafka_uuid import new_uuid, parse_uuid, uuid_text


def test_uuid_of_a_real_topic_is_parsed_and_printed() -> None:
    # The topic "demo" of tests/golden/kafka-4.3.0-data-dir.
    uuid = parse_uuid("Adv_BKTuQwKmdQOI3Je6lw")

    assert uuid == bytes.fromhex("01dbff04a4ee4302a6750388dc97ba97")
    assert uuid_text(uuid) == "Adv_BKTuQwKmdQOI3Je6lw"


@given(st.binary(min_size=16, max_size=16))
def test_text_of_every_uuid_is_parsed(uuid: bytes) -> None:
    assert parse_uuid(uuid_text(uuid)) == uuid


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A",
        "Adv_BKTuQwKmdQOI3Je6l",
        "Adv_BKTuQwKmdQOI3Je6lwA",
        "Adv_BKTuQwKmdQOI3Je6lw==",
        "Adv/BKTuQwKmdQOI3Je6lw",
        "Adv_BKTuQwKmdQOI3Je6lx",
        "Adv_BKTuQwKmdQOI3Je6l ",
        "Adv_BKTuQwKmdQOI3Je6l\u00e4",
        "Adv_BKTuQwKmdQOI3Je6lw\n",
    ],
)
def test_text_that_no_uuid_has_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="not a Uuid"):
        parse_uuid(text)


@given(st.text(max_size=24))
def test_any_text_is_a_uuid_or_rejected(text: str) -> None:
    try:
        uuid = parse_uuid(text)
    except ValueError:
        return
    assert uuid_text(uuid) == text


def test_text_of_a_new_uuid_is_not_a_command_line_option() -> None:
    uuids = [new_uuid() for _ in range(1000)]

    assert not [uuid for uuid in uuids if uuid_text(uuid).startswith("-")]
    assert len(set(uuids)) == 1000
