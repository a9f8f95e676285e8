"""Which topics of the two sides of a comparison belong together."""

from dataclasses import replace

import pytest

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.compare.sides import Columns, LogSide, SideArguments, TableSide, parse_side
from fauxka.pipeline.compare.topic_map import TopicMap, parse_topic_map
from fauxka.pipeline.compare.topics import pair_topics

# Plain functions of modules that import pyspark.
pytestmark = [pytest.mark.spark, pytest.mark.slice]

LEFT = LogSide("left", "topic://a:1", {})
RIGHT = LogSide("right", "topic://b:1", {})
LEFT_TABLE = TableSide("left", "sink", "parquet", {}, "sink", Columns(offsets=("topic", "partition", "offset")))
MIRRORED = parse_topic_map(["*=primary.*"])


@pytest.mark.parametrize(
    ("address", "topic"),
    [
        ("jdbc:postgresql://h/shop?user=a&password=hunter2", "shop"),
        ("jdbc:sqlserver://h/shop;user=a;password=hun/ter2", "shop"),
        ("jdbc:oracle:thin:scott/hunter2@//h:1/shop", "shop"),
    ],
)
def test_the_topic_of_two_tables_is_the_database_without_its_parameters(address: str, topic: str) -> None:
    table = SideArguments(address, options={"dbtable": "orders"}, columns=Columns(offsets=("partition", "offset")))

    pairs = pair_topics(parse_side("left", table), parse_side("right", table), (None, None), TopicMap())

    assert pairs.common == topic


def test_a_topic_of_the_target_cluster_is_not_the_mirrored_one() -> None:
    pairs = pair_topics(LEFT, RIGHT, ({"orders", "bills"}, {"orders", "primary.orders", "primary.bills"}), MIRRORED)

    assert pairs.right == ("primary.bills", "primary.orders")


def test_a_topic_of_the_target_cluster_does_not_stand_for_a_missing_mirrored_one() -> None:
    with pytest.raises(BadOption, match=r"topic-map: topic://b:1 has no topic for orders; it has orders"):
        pair_topics(LEFT, RIGHT, ({"orders"}, {"orders"}), MIRRORED)


def test_a_topic_of_the_target_cluster_is_not_compared_with_a_table() -> None:
    topics = {"orders", "primary.orders"}

    pairs = pair_topics(LEFT_TABLE, RIGHT, (None, topics), MIRRORED)

    assert (pairs.right, pairs.names) == (("primary.orders",), ("orders",))
    with pytest.raises(BadOption, match=r"topic-map: no rule names a topic of topic://b:1; it has orders"):
        pair_topics(LEFT_TABLE, RIGHT, (None, {"orders"}), MIRRORED)


def test_topics_that_no_rule_names_keep_their_names() -> None:
    topic_map = parse_topic_map(["orders=bought", "*-v1=*-v2"])

    pairs = pair_topics(LEFT, RIGHT, ({"orders", "a-v1", "x"}, {"bought", "a-v2", "a-v1", "x", "orders"}), topic_map)

    assert pairs.right == ("a-v2", "bought", "x")


def test_several_topics_can_have_the_records_of_one() -> None:
    topic_map = parse_topic_map(["orders=eu", "orders=us"])

    assert pair_topics(LEFT, RIGHT, ({"orders"}, {"eu", "us"}), topic_map).right == ("eu", "us")


def test_the_only_topics_of_two_logs_belong_together() -> None:
    pairs = pair_topics(LEFT, replace(RIGHT, place="topic://b:1/bought"), ({"orders"}, {"bought"}), TopicMap())

    assert pairs.topic_map.left_of("bought") == "orders"
