"""The options of a comparison: the sides, the rules of topics, offset columns and durations."""

from pathlib import Path

import pytest

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.compare.matching import parse_offset_columns
from fauxka.pipeline.compare.sides import Columns, LogSide, SideArguments, TableSide, parse_side
from fauxka.pipeline.compare.topic_map import TopicMap, parse_topic_map

from .logs_on_disk import batches, write_segment

COMPARE = Path(__file__).parents[2] / "pipeline" / "compare"


def test_a_star_stands_for_the_same_text_on_both_sides() -> None:
    mirrored = parse_topic_map(["*=primary.*"])

    assert mirrored.left_of("primary.orders") == "orders"
    assert mirrored.left_of("primary.") == "primary."
    assert mirrored.left_of("orders") == "orders"


def test_the_first_rule_that_matches_applies() -> None:
    rules = parse_topic_map(["orders=bought", "*-v1=*-v2"])

    assert [rules.left_of(name) for name in ("bought", "a-v2", "-v2", "other")] == ["orders", "a-v1", "-v2", "other"]


def test_topics_without_rules_keep_their_names() -> None:
    assert TopicMap().left_of("orders") == "orders"


@pytest.mark.parametrize("text", ["", "orders", "=x", "x=", "*=x", "x=*", "**=**", "*=a*b*"])
def test_another_rule_is_refused(text: str) -> None:
    with pytest.raises(BadOption, match=r"topic-map: must be LEFT=RIGHT, each with one \* or none"):
        parse_topic_map([text])


def test_offset_columns_are_two_or_three() -> None:
    assert parse_offset_columns("offset-columns", "p, o") == ("p", "o")
    assert parse_offset_columns("offset-columns", "t,p,o") == ("t", "p", "o")
    for text in ("", "o", "t,p,o,x", "t,,o"):
        with pytest.raises(BadOption, match="offset-columns: must be the columns"):
            parse_offset_columns("offset-columns", text)


def test_a_topic_is_a_log_of_committed_records_with_a_fixed_end() -> None:
    side = parse_side("left", SideArguments("topic://127.0.0.1:9092/orders,bills"), {"storageAttempts": "3"})

    assert isinstance(side, LogSide)
    assert side.options == {
        "bootstrap": "127.0.0.1:9092",
        "topics": "orders,bills",
        "isolationLevel": "read_committed",
        "endingOffsets": "latest",
        "storageAttempts": "3",
    }


def test_a_cluster_without_a_topic_takes_the_topics_of_the_option() -> None:
    side = parse_side("right", SideArguments("topic://a:1,b:2", topics="orders"))

    assert isinstance(side, LogSide)
    assert (side.options["bootstrap"], side.options["topics"]) == ("a:1,b:2", "orders")


def test_a_folder_of_segments_is_a_log_and_another_one_is_parquet(tmp_path: Path) -> None:
    write_segment(tmp_path / "logs" / "orders-0", batches(0, 2))
    (tmp_path / "sink").mkdir()

    log = parse_side("left", SideArguments(str(tmp_path / "logs")))
    sink = parse_side("right", SideArguments(str(tmp_path / "sink")))

    assert isinstance(log, LogSide)
    assert log.options["path"] == str(tmp_path / "logs")
    assert isinstance(sink, TableSide)
    assert (sink.format, sink.path) == ("parquet", str(tmp_path / "sink"))


def test_a_table_by_jdbc_has_its_address_as_an_option() -> None:
    side = parse_side("right", SideArguments("jdbc:sqlite:shop.db", options={"dbtable": "orders"}))

    assert isinstance(side, TableSide)
    assert (side.format, side.path) == ("jdbc", None)
    assert side.options == {"dbtable": "orders", "url": "jdbc:sqlite:shop.db"}


def test_a_format_reads_any_text() -> None:
    side = parse_side("right", SideArguments("shop.orders", format="iceberg", options={"branch": "main"}))

    assert isinstance(side, TableSide)
    assert (side.format, side.path, side.options) == ("iceberg", "shop.orders", {"branch": "main"})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (SideArguments("/nowhere"), "right: there is no /nowhere"),
        (SideArguments(""), "right: must be topic://HOST:PORT/TOPIC, a path or URI"),
        (SideArguments("topic:orders"), "right: must be topic://HOST:PORT/TOPIC, a path or URI"),
        (SideArguments("jdbc:sqlite:shop.db"), "right-option: jdbc:sqlite:shop.db needs dbtable=TABLE or query=SELECT"),
        (SideArguments("topic://h:1/a", format="delta"), "right-format: must be log for topic://h:1/a, not delta"),
        (SideArguments("topic://h:1/a", topics="b"), "right-topics: topic://h:1/a names topics already"),
        (
            SideArguments("s3://b/x", "parquet", {"mergeSchema": "true"}),
            "right-option: mergeSchema is for Spark's reader, without which s3://b/x is read",
        ),
        (SideArguments("x", format="delta", topics="b"), "right-topics: is for a log, and x is a table"),
        (SideArguments("x", format="delta", command_config="f"), "right-command-config: is for a log, and x is"),
        (
            SideArguments("/", format="log", command_config="f"),
            "right-command-config: is for a broker, and / is a path",
        ),
        (SideArguments("topic://h:1/a", columns=Columns(order="o")), "right-order: is for a table"),
    ],
)
def test_invalid_sides_are_one_line(given: SideArguments, words: str) -> None:
    with pytest.raises(BadOption) as raised:
        parse_side("right", given)

    assert str(raised.value).startswith(words)


SECRET_PLACE = "jdbc:postgresql://bob:hunter2@h/shop?user=a&password=hun ter2"


@pytest.mark.parametrize(
    "given",
    [
        SideArguments(SECRET_PLACE),
        SideArguments(SECRET_PLACE, topics="a"),
        SideArguments(SECRET_PLACE, "log", command_config="f"),
        SideArguments(f"topic:{SECRET_PLACE}"),
        SideArguments(f"file:/{SECRET_PLACE}"),
    ],
)
def test_a_message_about_a_side_has_no_password(given: SideArguments) -> None:
    with pytest.raises(BadOption) as raised:
        parse_side("right", given)

    assert "hunter2" not in str(raised.value)
    assert "ter2" not in str(raised.value)


def test_the_place_of_a_side_is_shown_without_passwords() -> None:
    table = parse_side("right", SideArguments(SECRET_PLACE, options={"dbtable": "orders"}))
    other = parse_side("right", SideArguments(SECRET_PLACE, "custom"))
    log = parse_side("left", SideArguments(SECRET_PLACE, "log"))

    assert isinstance(table, TableSide)
    assert table.options["url"] == SECRET_PLACE
    assert isinstance(other, TableSide)
    assert other.path == SECRET_PLACE
    assert log.options["path"] == SECRET_PLACE
    assert {side.place for side in (table, other, log)} == {"jdbc:postgresql:...@h/shop?user=a&password=..."}


@pytest.mark.parametrize("file", sorted(COMPARE.glob("*.py")), ids=lambda file: file.stem)
def test_a_comparison_collects_no_more_than_a_limit(file: Path) -> None:
    collecting = (".collect()", ".toPandas()", ".toArrow()", ".toLocalIterator(", ".take(", ".head(", ".tail(")
    lines = [line for line in file.read_text().splitlines() if any(word in line for word in collecting)]

    assert [line for line in lines if ".limit(" not in line] == []


@pytest.mark.parametrize("file", sorted(COMPARE.glob("*.py")), ids=lambda file: file.stem)
def test_a_comparison_needs_nothing_that_spark_connect_lacks(file: Path) -> None:
    text = file.read_text()

    assert [word for word in ("sparkContext", "_jvm", "_jsc", ".rdd", "parallelize") if word in text] == []
