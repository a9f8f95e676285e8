"""Options of the data source; each error is one line."""

import pytest

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.decode.views import Column, check_columns
from fauxka.pipeline.read.options import EARLIEST, LATEST, parse_options


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "set exactly one of the options path"),
        ({"path": "a", "bootstrap": "b:1"}, "set exactly one of the options path"),
        ({"path": "a", "topic": "b"}, "option topic is not known; known options are path"),
        ({"path": "a", "view": "rows"}, "view: must be records or batches, not rows"),
        ({"path": "a", "topics": "b", "topicPattern": "c"}, "not both"),
        ({"path": "a", "topics": " , "}, "topics: must be names separated by commas"),
        ({"path": "a", "topicPattern": "("}, "topicPattern: ( is not a regular expression"),
        ({"path": "a", "splitBytes": "10"}, "splitBytes: must be a whole number of 1024 or more, not 10"),
        ({"path": "a", "splitBytes": "many"}, "splitBytes: must be a whole number"),
        ({"path": "a", "failOnDataLoss": "no"}, "failOnDataLoss: must be true or false, not no"),
        ({"path": "a", "endingOffsets": "earliest"}, "endingOffsets: must be latest or offsets"),
        ({"path": "a", "startingOffsets": "first"}, "startingOffsets: must be earliest, latest or"),
        ({"path": "a", "startingOffsets": '{"t": 5}'}, "startingOffsets: must be earliest, latest or"),
        ({"path": "a", "startingOffsets": '{"t": {"0": -3}}'}, "startingOffsets: must be earliest, latest or"),
        ({"path": "a", "startingOffsets": '{"t": {"x": 3}}'}, "startingOffsets: must be earliest, latest or"),
        ({"bootstrap": "nowhere"}, "bootstrap: must be host:port"),
        ({"bootstrap": "host:70000"}, "bootstrap: must be host:port"),
    ],
)
def test_a_bad_option_is_one_line_that_names_it(options: dict[str, str], words: str) -> None:
    with pytest.raises(BadOption) as raised:
        parse_options(options)

    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_option_names_are_case_insensitive() -> None:
    options = parse_options({"BOOTSTRAP": "a:1, [::1]:2", "startingoffsets": '{"t": {"0": 5, "1": -1}}'})

    assert options.bootstrap == (("a", 1), ("::1", 2))
    assert [options.starting.of("t", partition) for partition in range(3)] == [5, LATEST, EARLIEST]


def test_internal_topics_are_selected_only_by_name() -> None:
    every, pattern = parse_options({"path": "a"}), parse_options({"path": "a", "topicPattern": ".*"})
    named = parse_options({"path": "a", "topics": "__consumer_offsets"})

    assert [one.is_wanted("__consumer_offsets") for one in (every, pattern, named)] == [False, False, True]
    assert [one.is_wanted("__mine") for one in (every, pattern, named)] == [True, True, False]


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (Column("nope", "int"), "schema: the view records has no column nope; it has topic, partition"),
        (Column("key", "int"), "schema: key must be binary or string, not int"),
        (Column("offset", "int"), "schema: offset must be bigint, not int"),
    ],
)
def test_an_unknown_column_or_type_is_refused(column: Column, words: str) -> None:
    with pytest.raises(BadOption) as raised:
        check_columns("records", [column])

    assert str(raised.value).startswith(words)
