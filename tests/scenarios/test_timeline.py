"""Timelines built from literal requests and notes."""

from msgspec.structs import replace

from fauxka.scenarios.report.batch_names import BatchNames
from fauxka.scenarios.report.cached_batches import CachedBatch
from fauxka.scenarios.report.journal_requests import JournalFault, JournalRequest
from fauxka.scenarios.report.notes import Note
from fauxka.scenarios.report.timeline import Moment, NamedRule, build_timeline

from .literal_requests import PRODUCER_ID, batch, init_producer_id, produce

NAMES = BatchNames(planned={(0, 0, 4): "A", (0, 5, 9): "B", (0, 10, 14): "C"})
RULES = {
    1: NamedRule("the ack is lost", "applied", "drop"),
    2: NamedRule("B is lost", "received", "drop"),
    3: NamedRule("B is held", "received", "hold"),
}


def timeline(requests: list[JournalRequest], notes: list[Note] | None = None, remembered: int = 5) -> list[Moment]:
    return build_timeline(requests, notes or [], NAMES, RULES, remembered)


def kinds(moments: list[Moment]) -> list[str]:
    return [moment.kind for moment in moments]


def test_a_request_is_followed_by_its_decision_and_its_response() -> None:
    names = BatchNames(stored={(0, 100): "A"})

    moments = build_timeline([produce(1, batch(0, 4, base_offset=100))], [], names, {}, 5)

    assert kinds(moments) == ["request", "decision", "answer"]
    assert moments[0].text == "Produce A: producer 7 epoch 0 sequences 0..4"
    assert (moments[1].decision, moments[1].base_offset) == ("appended", 100)
    assert moments[1].cached == [CachedBatch("A", 0, 4)]
    assert moments[2].text == "offset 100"


def test_the_response_to_init_producer_id_is_the_next_new_producer() -> None:
    moments = timeline([init_producer_id(1), produce(2, batch(0, 4))])

    assert [moment.text for moment in moments[:2]] == ["InitProducerId", "producer 7 epoch 0"]


def test_a_dropped_response_is_lost_with_the_name_of_its_rule() -> None:
    lost = produce(
        1, batch(0, 4, base_offset=0), answered=False, fault=JournalFault(rule=1, point="applied", kind="drop")
    )

    answer = timeline([lost])[-1]

    assert answer.lost
    assert answer.why_lost == "drop at applied: the ack is lost"


def test_a_request_that_a_rule_dropped_has_neither_decision_nor_response() -> None:
    lost = produce(
        1, batch(5, 9, "not_applied"), answered=False, fault=JournalFault(rule=2, point="received", kind="drop")
    )

    [request] = timeline([lost])

    assert request.lost
    assert request.why_lost == "drop at received: B is lost"


def test_a_held_request_has_its_decision_after_the_release() -> None:
    held = produce(1, batch(5, 9, base_offset=5), fault=JournalFault(rule=3, point="received", kind="hold"))
    overtaker = produce(2, batch(10, 14, "refused", error="OUT_OF_ORDER_SEQUENCE_NUMBER"))

    moments = timeline([held, overtaker], [Note(2, "broker", "goes on", releases=True)])

    assert [moment.decision for moment in moments if moment.decision] == ["not_applied", "refused", "appended"]
    assert moments[-1].request == 1


def test_a_note_follows_the_request_before_it() -> None:
    requests = [produce(1, batch(0, 4)), produce(2, batch(5, 9))]

    moments = timeline(requests, [Note(1, "test", "between")])

    assert kinds(moments) == ["request", "decision", "answer", "note", "request", "decision", "answer"]


def test_a_new_connection_is_noted() -> None:
    moments = timeline([produce(1, batch(0, 4)), produce(2, batch(5, 9), connection=2)])

    assert [moment.text for moment in moments if moment.kind == "note"] == ["reconnects"]


def test_the_first_connection_of_another_process_is_not() -> None:
    other = replace(produce(2, batch(5, 9), connection=2), client_id="other")

    moments = timeline([produce(1, batch(0, 4)), other, produce(3, batch(10, 14))])

    assert [moment.text for moment in moments if moment.kind == "note"] == []


def test_a_request_belongs_to_the_process_of_its_client_id() -> None:
    moments = timeline([produce(1, batch(0, 4)), replace(produce(2, batch(5, 9)), client_id="other")])

    assert [moment.process for moment in moments] == ["client"] * 3 + ["other"] * 3


def test_a_request_belongs_to_the_process_that_it_names() -> None:
    moments = timeline([replace(produce(1, batch(0, 4)), client_id="producer-1", process="job 1")])

    assert [moment.process for moment in moments] == ["job 1"] * 3


def test_only_notes_of_clients_belong_to_a_process() -> None:
    notes = [Note(0, "client", "starts"), Note(0, "client", "starts", "other"), Note(0, "test", "arms a rule")]

    assert [moment.process for moment in timeline([], notes)] == ["client", "other", ""]


def test_the_number_of_cached_batches_is_limited() -> None:
    requests = [produce(number + 1, batch(number, number)) for number in range(7)]

    cached = timeline(requests)[-2].cached

    assert cached is not None
    assert [window.base_sequence for window in cached] == [2, 3, 4, 5, 6]


def test_a_new_epoch_drops_the_cached_batches() -> None:
    moments = timeline([produce(1, batch(0, 4)), produce(2, batch(0, 4, epoch=1))])

    assert [moment.cached for moment in moments if moment.cached is not None][-1] == [CachedBatch("A", 0, 4)]


def test_reported_ring_bounds_are_used() -> None:
    requests = [produce(1, batch(0, 4)), produce(2, batch(5, 9)), produce(3, batch(10, 14))]
    forgets = Note(2, "broker", "was killed", cached={(0, PRODUCER_ID): [(5, 9)]})

    cached = timeline(requests, [forgets])[-2].cached

    assert cached == [CachedBatch("B", 5, 9), CachedBatch("C", 10, 14)]


def test_a_request_names_its_node_if_there_are_several() -> None:
    first, second = produce(1, batch(0, 4)), produce(2, batch(5, 9))

    one_node = timeline([first, second])
    two_nodes = timeline([first, replace(second, node=2)])

    assert one_node[0].text == "Produce A: producer 7 epoch 0 sequences 0..4"
    assert [moment.text for moment in two_nodes if moment.kind == "request"] == [
        "Produce A: producer 7 epoch 0 sequences 0..4 to node 1",
        "Produce B: producer 7 epoch 0 sequences 5..9 to node 2",
    ]


def test_a_producer_without_an_id_is_not_the_result_of_init_producer_id() -> None:
    without_id = batch(-1, -1)
    without_id.producer_id = -1

    moments = timeline([init_producer_id(1), produce(2, without_id), produce(3, batch(0, 4))])

    assert moments[1].text == "producer 7 epoch 0"


def test_the_response_to_init_producer_id_is_that_of_its_process() -> None:
    other = replace(init_producer_id(2), client_id="other")

    moments = timeline([init_producer_id(1), other, produce(3, batch(0, 4))])

    assert [moment.text for moment in moments if moment.kind == "answer"][:2] == ["producer 7 epoch 0", "response"]


def test_a_batch_that_was_sent_alone_keeps_its_name_when_another_one_has_its_offset() -> None:
    lost = replace(produce(1, batch(-1, -1, base_offset=50)), client_id="client")
    kept = replace(produce(2, batch(-1, -1, base_offset=50)), client_id="client")
    names = BatchNames(stored={(0, 50): "B"})

    names.add_sent_alone("L", "client", [lost])

    assert names.name_of(lost.batches[0], lost.id) == "L"
    assert names.name_of(kept.batches[0], kept.id) == "B"


def test_a_refused_batch_has_the_name_of_its_stored_copy() -> None:
    names = BatchNames()
    refused = produce(1, batch(20, 24, "refused", error="OUT_OF_ORDER_SEQUENCE_NUMBER"))
    stored = produce(2, batch(20, 24, base_offset=50))
    names.stored[(0, 50)] = "E"

    names.add_stored([], [refused, stored])

    assert names.name_of(refused.batches[0], refused.id) == "E"
