"""The search for records: over all partitions by their timestamps."""

from collections.abc import Iterator
from typing import Any

import pytest

from fauxka.testing import InvalidValueError

from .transports import Broker

BEGIN_MS = 1_700_000_000_000


@pytest.fixture
def broker() -> Iterator[Broker]:
    """Twelve records of three partitions, each a millisecond after the one before in the next partition."""
    with Broker({"num.partitions": 3}) as running:
        running.topics.seed(
            "orders",
            [
                {
                    "partition": number % 3,
                    "key": f"key-{number}",
                    "value": {"order": {"id": 1000 + number}, "item": "tea" if number % 2 else "coffee"},
                    "headers": [("event-id", f"e{number}"), ("event-id", f"again-{number}"), ("empty", None)],
                    "timestamp": BEGIN_MS + number,
                }
                for number in range(12)
            ],
            create=True,
        )
        yield running


def numbers(broker: Broker, limit: int = 100, **wanted: Any) -> list[int]:
    """Return which of the twelve records a search finds, in its order."""
    return [each.timestamp - BEGIN_MS for each in broker.topics.search("orders", limit, **wanted)]


def test_records_of_all_partitions_are_found_newest_or_oldest_first(broker: Broker) -> None:
    assert numbers(broker) == list(range(11, -1, -1))
    assert numbers(broker, order="oldest") == list(range(12))
    assert numbers(broker, 4) == [11, 10, 9, 8]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"content": "key", "equals": "key-7"}, [7]),
        ({"content": "key", "contains": "key-1"}, [11, 10, 1]),
        ({"content": "value", "contains": "coffee"}, [10, 8, 6, 4, 2, 0]),
        ({"content": "header:event-id", "equals": "again-3"}, [3]),
        ({"content": "header:empty", "regex": ""}, []),
        ({"content": "json:order.id", "equals": "1009"}, [9]),
        ({"content": "json:item", "regex": "^t.a$"}, [11, 9, 7, 5, 3, 1]),
        ({"contains": "again-5"}, [5]),
        ({"contains": "1005"}, [5]),
        ({"regex": "key-(2|3)$"}, [3, 2]),
        ({"partition": 1}, [10, 7, 4, 1]),
        ({"from_offset": 1, "to_offset": 2, "partition": 0}, [6, 3]),
        ({"from_ms": BEGIN_MS + 9}, [11, 10, 9]),
        ({"from_ms": BEGIN_MS + 4, "to_ms": BEGIN_MS + 6, "order": "oldest"}, [4, 5, 6]),
        ({"from_ms": BEGIN_MS + 100}, []),
    ],
)
def test_search_finds_by_content_offset_and_time(broker: Broker, wanted: dict[str, Any], found: list[int]) -> None:
    assert numbers(broker, **wanted) == found


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"content": "header:"}, "in cannot be 'header:'; allowed: key, value, header:NAME or json:PATH"),
        ({"content": "json:a b"}, "in cannot be"),
        ({"regex": "(a"}, "regex does not compile"),
        ({"contains": "a", "regex": "b"}, "contains and regex are given"),
        ({"limit": 0}, "limit cannot be 0"),
    ],
)
def test_wrong_search_is_refused(broker: Broker, wanted: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        broker.topics.search("orders", **wanted)
