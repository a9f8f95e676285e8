"""Diagrams drawn from literal timelines."""

import pytest
from msgspec import structs

from fauxka.admin.client.text_width import terminal_width
from fauxka.scenarios.report.cached_batches import CachedBatch
from fauxka.scenarios.report.diagram import WIDTH, draw
from fauxka.scenarios.report.timeline import Moment

REQUEST = Moment(kind="request", request=1, text="Produce A: producer 7 epoch 0 sequences 0..4")
APPENDED = Moment(
    kind="decision",
    request=1,
    text="producer 7 epoch 0: sequences 0..4 appended at offsets 0..4",
    decision="appended",
    cached=[CachedBatch("A", 0, 4)],
)
ANSWER = Moment(kind="answer", request=1, text="offset 0")
LOST_ANSWER = Moment(kind="answer", request=1, text="offset 0", lost=True, why_lost="drop at applied: a rule")

GOOD = """\
client                                                                                        broker
  |                                                                                              |
  |-- Produce A: producer 7 epoch 0 sequences 0..4 --------------------------------------------->|
  |                                                      sequences 0..4 appended at offsets 0..4 |
  |                                                                               cached: A 0..4 |
  |<--------------------------------------------------------------------------------- offset 0 --|
  |                                                                                              |"""


def test_an_appended_and_acknowledged_batch() -> None:
    assert draw([REQUEST, APPENDED, ANSWER]) == GOOD


def test_a_lost_response_is_marked_with_its_cause() -> None:
    lines = draw([REQUEST, APPENDED, LOST_ANSWER]).splitlines()

    assert lines[5].strip(" |") == "lost: drop at applied: a rule X - - - offset 0 --"


def test_a_lost_request_does_not_reach_the_broker() -> None:
    lost = Moment(kind="request", request=1, text="Produce A", lost=True, why_lost="drop at received: a rule")

    assert draw([lost]).splitlines()[2].strip(" |") == "-- Produce A - - - X lost: drop at received: a rule"


def test_each_event_is_on_the_side_of_its_actor() -> None:
    notes = [Moment(kind="note", who=who, text=f"the {who} does it") for who in ("client", "broker", "test")]

    client, broker, test = (line.strip()[1:-1] for line in draw(notes).splitlines()[2:5])

    assert client.startswith(" * the client does it ")
    assert broker.endswith(" the broker does it * ")
    assert test.strip(".") == " the test does it "


def test_dropped_decisions_are_followed_by_the_kept_ones() -> None:
    forgets = Moment(kind="note", who="broker", text="forgets producer 7", cached=[])

    assert draw([forgets]).splitlines()[3].strip(" |") == "cached: nothing"


def test_cached_finding_is_not_reported_twice() -> None:
    told = "producer 7 epoch 0: expected sequence 5, got 9 (cached 0..4): a gap is refused as a whole"
    refused = Moment(kind="decision", request=1, text=told, decision="refused", cached=[CachedBatch("A", 0, 4)])

    assert "(cached" not in draw([refused])
    assert "expected sequence 5, got 9: a gap is refused as a whole" in draw([refused])


def exchange(process: str, number: int, text: str) -> list[Moment]:
    """Return the moments of a request that is appended and acknowledged."""
    return [
        Moment(kind="request", process=process, request=number, text=text),
        Moment(kind="decision", process=process, request=number, text="appended", decision="appended"),
        Moment(kind="answer", process=process, request=number, text=f"offset {number}"),
    ]


TWO_LANES = """\
client     successor                                    broker
  |          |                                             |
  |-- Produce A ------------------------------------------>|
  |          |                                    appended |
  |<------------------------------------------- offset 1 --|
  |          |                                             |
  |          | * takes over                                |
  |          |-- Produce B ------------------------------->|
  |          |                                    appended |
  |          |<-------------------------------- offset 2 --|
  |          |                                             |"""


def test_each_process_has_its_own_lane() -> None:
    takes_over = Moment(kind="note", who="client", process="successor", text="takes over")

    drawn = draw([*exchange("client", 1, "Produce A"), takes_over, *exchange("successor", 2, "Produce B")], 62)

    assert drawn == TWO_LANES


def test_names_that_do_not_fit_next_to_each_other_stand_below_each_other() -> None:
    processes = ["payments-producer", "orders-producer", "audit"]
    moments = [moment for number, name in enumerate(processes) for moment in exchange(name, number, "Produce")]

    lines = draw(moments, 70).splitlines()

    assert lines[:4] == [
        "  payments-producer",
        "  |           orders-producer",
        "  |           |           audit                                 broker",
        "  |           |           |                                        |",
    ]


def test_processes_without_room_for_a_lane_share_the_last_one() -> None:
    names = [f"client-{number}" for number in range(20)]
    moments = [moment for number, name in enumerate(names) for moment in exchange(name, number, f"Produce {number}")]

    drawn = draw(moments, 80)

    assert "other processes" in drawn
    assert "-- Produce 19 --" in drawn
    assert max(map(len, drawn.splitlines())) <= 80


def test_a_long_request_is_wrapped_above_its_arrow() -> None:
    request = Moment(kind="request", process="client", request=1, text=f"Produce {'batch ' * 12}end")

    lines = draw([request], 60).splitlines()

    assert lines[2].startswith("  | Produce batch")
    assert lines[3].startswith("  |-- batch ")
    assert lines[3].endswith("end -->|") or " end ---" in lines[3]


@pytest.mark.parametrize(("columns", "width"), [("80", 80), ("40", 60), ("200", 120)])
def test_the_width_is_that_of_the_terminal_within_limits(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)

    assert terminal_width() == width


@pytest.mark.parametrize("width", [60, 80, WIDTH, 120])
@pytest.mark.parametrize("processes", [1, 2, 5, 30])
def test_no_line_is_wider_than_the_diagram(width: int, processes: int) -> None:
    windows = [CachedBatch(f"batch-{number}", 2147483000 + number, 2147483640) for number in range(5)]
    moments = [
        Moment(kind="request", request=1, text="Produce " + "x" * 200),
        Moment(kind="decision", request=1, text="word " * 60, decision="refused", cached=windows),
        Moment(kind="answer", request=1, text="y" * 60, lost=True, why_lost="z " * 60),
        Moment(kind="note", who="client", text="note " * 60),
        Moment(kind="note", who="broker", text="note " * 60),
        Moment(kind="note", who="test", text="note " * 60),
        Moment(kind="request", request=2, text="Produce " + "x" * 80, lost=True, why_lost="z " * 60),
    ]

    moments = [
        structs.replace(moment, process=f"process-{number}") if moment.who in (None, "client") else moment
        for number in range(processes)
        for moment in moments
    ]
    assert max(map(len, draw(moments, width).splitlines())) <= width


def test_a_long_run_of_successful_batches_is_summarised() -> None:
    moments = [
        moment
        for number in range(1, 21)
        for moment in (
            Moment(kind="request", request=number, text=f"Produce batch-{number}"),
            Moment(kind="decision", request=number, text="appended", decision="appended"),
            Moment(kind="answer", request=number, text="offset"),
        )
    ]

    drawn = draw(moments)

    assert "18 more batches, each appended and acknowledged" in drawn
    assert "Produce batch-1 " in drawn
    assert "Produce batch-20 " in drawn
    assert "Produce batch-2 " not in drawn
