"""The text of near misses: the first field that differed, and nothing about fields that were not compared."""

import pytest

from fauxka.faults.json_bytes import BytesValue
from fauxka.faults.rules.match import HeaderMatch, IntegerRange, Match, Pattern
from fauxka.faults.rules.near_misses import Got, Mismatch, MoreValues, NearMisses, describe_misses


def message_of(match: Match, field: str, got: Got) -> str:
    misses = NearMisses(match)
    misses.add(Mismatch(field, got, 0))
    return misses.nearest()[0].message


@pytest.mark.parametrize(
    ("match", "field", "got", "shown"),
    [
        (Match(api="Produce"), "api", "ApiVersions", "ApiVersions, not Produce"),
        (Match(api=["Produce", "Fetch"]), "api", "Metadata", "Metadata, not Produce or Fetch"),
        (Match(partition=1), "partition", 0, "0, not 1"),
        (Match(topic="1"), "topic", "2", '"2", not "1"'),
        (Match(client_id="app"), "client_id", "", '"", not app'),
        (Match(client_id="null"), "client_id", "a b", '"a b", not "null"'),
        (Match(topic=Pattern("a.*")), "topic", "b", 'b, not {"regex": "a.*"}'),
        (Match(base_sequence=IntegerRange(first=3)), "base_sequence", 1, '1, not {"from": 3}'),
        (Match(group_id="g"), "group_id", None, "no group_id, not g"),
        (Match(key="a"), "key", (), "no key, not a"),
        (Match(key="a"), "key", ("b", MoreValues(more=2)), 'b, {"more": 2}, not a'),
        (Match(key=b"\xff"), "key", (BytesValue(base64=b"\0"),), '{"base64": "AA=="}, not {"base64": "/w=="}'),
        (Match(header=HeaderMatch(name="id")), "header", (), 'no header, not {"name": "id"}'),
    ],
)
def test_message_names_the_first_field_that_differed(match: Match, field: str, got: Got, shown: str) -> None:
    assert message_of(match, field, got) == f"first differed at {field}: {shown}"


def test_nearest_are_described_with_their_number() -> None:
    misses = NearMisses(Match(api="Produce", topic="a", partition=1))
    counted = [Mismatch("api", "Fetch", 0)] * 9 + [Mismatch("topic", "b", 8)] + [Mismatch("topic", "c", 8)] * 2
    for mismatch in (*counted, Mismatch("partition", 0, 9)):
        misses.add(mismatch)

    assert describe_misses(misses.nearest(), "request") == [
        "1 request first differed at partition: 0, not 1",
        "2 requests first differed at topic: c, not a",
        "1 request first differed at topic: b, not a",
    ]
