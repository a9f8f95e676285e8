"""The event id of a record."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.checks.event_id import event_id_column, is_empty_id

from .frames import assert_same, record, records

pytestmark = pytest.mark.spark

# Few characters, so that many pairs have the same text when they are joined.
SHORT = st.text(alphabet='a",[]\\', max_size=3)


def assert_ids(spark: SparkSession, text: str, rows: list[dict[str, object]], *expected: str | None) -> None:
    ids = records(spark, *rows).select(event_id_column(text).alias("id"))
    assert_same(ids, spark.createDataFrame([(one,) for one in expected], "id string"))


def test_a_key_is_text_and_other_bytes_are_hexadecimal(spark: SparkSession) -> None:
    rows = [record(0, "a-7"), record(1, None), record(2, b"\x00\x07"), record(3, b"\xff\xfe"), record(4, "über")]

    assert_ids(spark, "key", rows, "a-7", None, "0x0007", "0xfffe", "über")


def test_an_end_of_line_is_not_text(spark: SparkSession) -> None:
    rows = [record(0, "a\n"), record(1, "~\x7f"), record(2, "über\n")]

    assert_ids(spark, "key", rows, "0x610a", "0x7e7f", "0xc3bc6265720a")


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("key", {"key": b""}),
        ("header:id", {"headers": [("id", b"")]}),
        ("json:$.id", {"value": b'{"id": ""}'}),
    ],
)
def test_an_id_without_characters_is_one_only_if_that_is_said(
    spark: SparkSession, text: str, content: dict[str, object]
) -> None:
    rows = records(spark, {**record(0, None), **content}, record(1, None))

    told = rows.select(
        event_id_column(text).alias("id"),
        event_id_column(text, is_empty_an_id=True).alias("accepted"),
        is_empty_id(text).alias("is_empty"),
    )

    assert [tuple(row) for row in told.collect()] == [(None, "", True), (None, None, False)]


def test_the_first_header_of_the_name_counts(spark: SparkSession) -> None:
    rows = [
        record(0, None, headers=[("other", b"x"), ("id", b"1"), ("id", b"2")]),
        record(1, None, headers=[("Id", b"3")]),
        record(2, None, headers=[]),
        record(3, None, headers=[("id", None)]),
        record(4, None, headers=None),
    ]

    assert_ids(spark, "header:id", rows, "1", None, None, None, None)


def test_a_json_path_selects_a_field_of_the_value(spark: SparkSession) -> None:
    rows = [
        record(0, None, value=b'{"order": {"ids": [8, 9]}}'),
        record(1, None, value=b'{"order": 3}'),
        record(2, None, value=b"no json"),
        record(3, None, value=None),
    ]

    assert_ids(spark, "json:$.order.ids[1]", rows, "9", None, None, None)


def test_a_json_name_may_have_blanks(spark: SparkSession) -> None:
    assert_ids(spark, "json:$['order id']", [record(0, None, value=b'{"order id": "a"}')], "a")


def test_an_event_id_of_parts_is_a_json_array_of_their_texts(spark: SparkSession) -> None:
    rows = [
        record(0, "a", headers=[("x", b"bc")], value=b'{"n": 7}'),
        record(1, "ab", headers=[("x", b"c")], value=b'{"n": 7}'),
        record(2, 'a"', headers=[("x", b"\\,")], value=b'{"n": "\\u0007"}'),
    ]

    assert_ids(spark, "key+header:x+json:$.n", rows, '["a","bc","7"]', '["ab","c","7"]', '["a\\"","\\\\,","\\u0007"]')


def test_a_record_without_one_of_the_parts_has_no_event_id(spark: SparkSession) -> None:
    rows = [record(0, None, value=b'{"n": 7}'), record(1, "a", value=b"{}"), record(2, "a", value=b'{"n": 7}')]

    assert_ids(spark, "key+json:$.n", rows, None, None, '["a","7"]')


def test_an_empty_part_is_one_only_if_that_is_said(spark: SparkSession) -> None:
    rows = records(
        spark, record(0, "", headers=[("x", b"1")]), record(1, "a", headers=[("x", b"")]), record(2, "", headers=[])
    )

    told = rows.select(
        event_id_column("key+header:x").alias("id"),
        event_id_column("key+header:x", is_empty_an_id=True).alias("accepted"),
        is_empty_id("key+header:x").alias("is_empty"),
    )

    assert [tuple(row) for row in told.collect()] == [
        (None, '["","1"]', True),
        (None, '["a",""]', True),
        (None, None, False),
    ]


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pairs=st.lists(st.tuples(SHORT, SHORT), min_size=50, max_size=100, unique=True))
def test_different_parts_give_different_ids(spark: SparkSession, pairs: list[tuple[str, str]]) -> None:
    rows = [record(number, key, headers=[("x", other.encode())]) for number, (key, other) in enumerate(pairs)]

    ids = records(spark, *rows).select(event_id_column("key+header:x", is_empty_an_id=True)).collect()

    assert len({row[0] for row in ids}) == len(pairs)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "offset",
            r"event-id: must be key, .*, or several joined by \+, not offset",
        ),
        (
            "header:",
            r"event-id: must be key, .*, or several joined by \+, not header:",
        ),
        ("json:order.id", "event-id: order.id is not a path like \\$.order.id"),
        ("json:$.a..b", "event-id: \\$.a..b is not a path like"),
        ("json:$.a[b]", "event-id: \\$.a\\[b\\] is not a path like"),
        ("json:$", "event-id: \\$ is not a path like"),
    ],
)
def test_an_invalid_event_id_is_one_line(spark: SparkSession, text: str, words: str) -> None:
    with pytest.raises(BadOption, match=f"^{words}"):
        event_id_column(text)
