"""The verdict on what an application makes of a topic in another, compared with a model that knows it."""

from __future__ import annotations

from itertools import chain

import pytest

from fauxka.faults.flow import flow_events
from fauxka.faults.flow.flow_events import FlowEvents, FlowRecord, Place, TooManyEventsError
from fauxka.faults.flow.flow_judge import FlowJudge
from fauxka.faults.flow.flow_reasons import FlowReasons

from ..run_counts import count
from .flow_model import FROM_TOPIC, GROUP, TO_TOPIC, FlowModel, Truth

RUNS = count(2000, in_slice=500)
EVENTS = 40


def judge_of(model: FlowModel) -> FlowJudge:
    events = FlowEvents()
    for record in chain.from_iterable(model.inputs):
        events.add_input(record)
    for record in chain.from_iterable(model.outputs):
        events.add_output(record)
    judge = FlowJudge(FlowReasons(GROUP, model.history(), (FROM_TOPIC, TO_TOPIC)))
    for event in events:
        judge.add(event)
    return judge


def found_in(judge: FlowJudge) -> set[Truth]:
    assert judge.findings_left_out == 0
    return {(each.kind, each.cause, event.event) for each in judge.findings for event in each.events}


def test_verdict_finds_every_planted_fault_and_nothing_else() -> None:
    kinds: set[tuple[str, str]] = set()
    for seed in range(RUNS):
        model = FlowModel(seed)
        model.run(EVENTS)

        judge = judge_of(model)

        expected, found = model.expected(), found_in(judge)
        assert found == expected, f"seed {seed}: missed {expected - found}, invented {found - expected}"
        for finding in judge.findings:
            assert finding.count == len(finding.events)
        kinds |= {(kind, cause) for kind, cause, _ in expected}
    assert kinds == {
        *(("lost", each) for each in ("output_aborted", "output_open", "processed", "committed")),
        *(("lost", each) for each in ("not_committed", "not_read")),
        *(("doubled", each) for each in ("rebalance_before_commit", "delivered_once")),
        *(("out_of_order", each) for each in ("rebalance_before_commit", "overtaken")),
        *(("unexpected", each) for each in ("aborted_input", "open_input", "no_input")),
    }


def test_verdict_has_the_places_of_each_event() -> None:
    for seed in range(RUNS // 10):
        model = FlowModel(seed)
        model.run(EVENTS)
        places = {each.name: (each.inputs, each.outputs) for each in model.events}

        for finding in judge_of(model).findings:
            for event in finding.events:
                found = [[Place(each.partition, each.offset) for each in side] for side in (event.input, event.output)]
                assert found == [sorted(each)[: flow_events.PLACES_MAX] for each in places[event.event]]


def test_correct_application_is_not_accused() -> None:
    for seed in range(RUNS // 10):
        model = FlowModel(seed, is_correct=True)
        model.run(EVENTS)

        judge = judge_of(model)

        assert judge.findings == []
        assert judge.counts.once == judge.counts.input == EVENTS


def test_long_event_ids_that_begin_alike_are_different_events() -> None:
    events, begin = FlowEvents(), b"a" * 2 * flow_events.ID_BYTES_MAX
    events.add_input(FlowRecord(begin + b"1", Place(0, 0)))
    events.add_output(FlowRecord(begin + b"2", Place(0, 0)))

    first, second = events

    assert (first.output.count, second.input.count) == (0, 0)
    assert first.name == "a" * flow_events.ID_BYTES_MAX + "…"


def test_more_events_than_are_kept_have_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow_events, "EVENTS_MAX", 2)
    events = FlowEvents()
    for offset in range(2):
        events.add_input(FlowRecord(b"%d" % offset, Place(0, offset)))

    with pytest.raises(TooManyEventsError):
        events.add_output(FlowRecord(b"2", Place(0, 2)))


def test_places_beyond_the_limit_are_counted_and_not_compared() -> None:
    events = FlowEvents()
    for offset, event_id in enumerate((b"a", b"b")):
        events.add_input(FlowRecord(event_id, Place(0, offset)))
    events.add_output(FlowRecord(b"b", Place(0, 0)))
    for partition in range(1, flow_events.PLACES_MAX + 1):
        events.add_output(FlowRecord(b"a", Place(partition, 0)))

    events.add_output(FlowRecord(b"a", Place(0, 1)))

    first, _ = events
    assert (first.output.count, len(first.output.places)) == (flow_events.PLACES_MAX + 1, flow_events.PLACES_MAX)
    assert first.overtaken_by is None
