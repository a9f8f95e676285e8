"""Event ids: where each kind is in a record, and which texts are none."""

from __future__ import annotations

import json
from typing import Union

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.faults.event_ids import find_event_id
from fauxka.protocol.batches.records import Record

from ..run_counts import examples

ORDER = {"order": {"id": "o-1", "number": 12345678901234567890, "price": 1.50, "is paid": True, "note": None}}
LINES = {"items": [{"id": "a"}, {"id": "b"}], "a.b": "dotted"}
RECORD = Record(json.dumps(ORDER | LINES).encode(), b"k", headers=(("id", b"h-1"), ("id", b"h-2"), ("none", None)))


def event_id_in(text: str, record: Record = RECORD) -> bytes | None:
    event_id_of = find_event_id(text)
    assert event_id_of is not None, text
    return event_id_of(record)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("value", RECORD.value),
        ("key", b"k"),
        ("header:id", b"h-1"),
        ("header:none", None),
        ("header:other", None),
        ("json:order.id", b"o-1"),
        ("json:$.order.id", b"o-1"),
        ("json:['order']['id']", b"o-1"),
        ("json:order.number", b"12345678901234567890"),
        ("json:order.price", b"1.5"),
        ("json:$.order['is paid']", b"true"),
        ("json:items[1].id", b"b"),
        ("json:$['a.b']", b"dotted"),
        ("json:items[0]", b'{"id": "a"}'),
        ("json:items[2].id", None),
        ("json:items.id", None),
        ("json:order[0]", None),
        ("json:order.note", None),
        ("json:order.id.more", None),
    ],
)
def test_event_id_is_found_in_its_place(text: str, wanted: bytes | None) -> None:
    assert event_id_in(text) == wanted


@pytest.mark.parametrize("value", [None, b"", b"{", b"\xff\x00", b"[" * 100_000, b"1", b'"text"'])
def test_value_without_the_field_has_no_event_id(value: bytes | None) -> None:
    assert event_id_in("json:order.id", Record(value)) is None


@pytest.mark.parametrize(
    "text",
    [
        *("", "values", "key:", "value:x", "header:", "headers:id", "json", "json:", "json:.id", "json:a..b"),
        *("json:a b", "json:items[x]", "json:items[", "json:$id.", "json:a[0]b", "json:[]", "json:a.*"),
    ],
)
def test_other_text_is_no_event_id(text: str) -> None:
    assert find_event_id(text) is None


Document = Union[str, "list[Document]", "dict[str, Document]"]

names = st.text(st.characters(exclude_characters="'", exclude_categories=["Cs"]), min_size=1, max_size=5)
documents: st.SearchStrategy[Document] = st.recursive(
    st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


def texts_in(document: Document, path: str = "$") -> list[tuple[str, str]]:
    """Return the path and the characters of each text of a document."""
    if isinstance(document, str):
        return [(path, document)]
    if isinstance(document, dict):
        steps = [(f"['{name}']", inner) for name, inner in document.items()]
    else:
        steps = [(f"[{index}]", inner) for index, inner in enumerate(document)]
    return [found for step, inner in steps for found in texts_in(inner, path + step)]


@settings(max_examples=examples(200))
@given(document=documents)
def test_every_text_of_a_document_is_found_by_its_path(document: Document) -> None:
    record = Record(json.dumps(document).encode())

    for path, text in texts_in(document):
        if path != "$":
            assert event_id_in(f"json:{path}", record) == text.encode()
