"""The text of an event id."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.checks.event_id_parts import (
    HEADER,
    JSON,
    KEY,
    PARTS_MAX,
    EventIdPart,
    parse_event_id,
    text_of_parts,
)

SHAPE = "must be key, header:NAME, json:$.path, avro:field or protobuf:field, or several joined by +"
# Characters that have a meaning in the text of an event id, and others.
NAMES = st.text(alphabet="+\":'[]$.ab key", min_size=1, max_size=8) | st.text(min_size=1, max_size=4)
FIELDS = st.text(alphabet='+":ab', min_size=1, max_size=4)
PATHS = st.one_of(FIELDS.map(lambda name: f"$['{name}']"), st.sampled_from(["$.a", "$.a+b", "$[0].b", "$['a b'].c"]))
PARTS = st.one_of(
    st.just(EventIdPart(KEY)),
    NAMES.map(lambda name: EventIdPart(HEADER, name)),
    PATHS.map(lambda path: EventIdPart(JSON, path)),
)


@given(st.lists(PARTS, min_size=1, max_size=PARTS_MAX).map(tuple))
def test_parts_are_read_back_from_their_text(parts: tuple[EventIdPart, ...]) -> None:
    assert parse_event_id(text_of_parts(parts)) == parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("key", (EventIdPart(KEY),)),
        ("key+header:x+json:$.a.b", (EventIdPart(KEY), EventIdPart(HEADER, "x"), EventIdPart(JSON, "$.a.b"))),
        ('header:"a+b"+key', (EventIdPart(HEADER, "a+b"), EventIdPart(KEY))),
        ('header:"a""b"', (EventIdPart(HEADER, 'a"b'),)),
        ('header:a"b', (EventIdPart(HEADER, 'a"b'),)),
        ('json:"$.a+b"', (EventIdPart(JSON, "$.a+b"),)),
        ("json:$['a+b']+key", (EventIdPart(JSON, "$['a+b']"), EventIdPart(KEY))),
        ("header:a:b", (EventIdPart(HEADER, "a:b"),)),
    ],
)
def test_parts_are_joined_by_plus(text: str, parts: tuple[EventIdPart, ...]) -> None:
    assert parse_event_id(text) == parts


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "",
            f"{SHAPE}, not ",
        ),
        (
            "key+",
            f"{SHAPE}, not key+",
        ),
        (
            "+key",
            f"{SHAPE}, not +key",
        ),
        (
            "header:a+b",
            f"{SHAPE}, not header:a+b",
        ),
        (
            'header:""',
            f'{SHAPE}, not header:""',
        ),
        ('header:"a', 'the quotes of header:"a must enclose the whole name'),
        ('key+header:"a"b', 'the quotes of header:"a"b must enclose the whole name'),
        ('json:"$.a b"', "$.a b is not a path like $.order.id, $.items[0] or $['order id']"),
        ("+".join(["key"] * 9), "has 9 parts, and at most 8 are supported"),
    ],
)
def test_an_invalid_text_is_one_line(text: str, words: str) -> None:
    with pytest.raises(BadOption) as raised:
        parse_event_id(text)

    assert str(raised.value) == f"event-id: {words}"
