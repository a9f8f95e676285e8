"""Each kind of expectation passes and fails as it should."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from msgspec.structs import replace as replaced

from fauxka.scenarios.clients.client import Delivery
from fauxka.scenarios.expectations import Check, RunResult, check
from fauxka.scenarios.report.stored_log import StoredBatch
from fauxka.scenarios.report.timeline import Moment
from fauxka.scenarios.scenario import Expectation, ExpectedFinding


def stored(name: str, base_offset: int, *, partition: int = 0, producer_id: int = 7, epoch: int = 0) -> StoredBatch:
    return StoredBatch(name, partition, base_offset, producer_id, epoch, [f"{name}-1", f"{name}-2"])


@dataclass
class FinishedConsumer:
    events: list[str]
    resets: list[str]

    def read_until(self, events: Collection[str]) -> None:
        raise AssertionError("the run has ended")

    def commit(self, offset: int | None = None) -> None:
        raise AssertionError("the run has ended")

    def kill(self) -> None:
        raise AssertionError("the run has ended")

    def read_error(self) -> str:
        raise AssertionError("the run has ended")

    def close(self) -> None:
        raise AssertionError("the run has ended")


SEEN = RunResult(
    client="raw",
    deliveries=[Delivery("A", 0, 0, "NONE"), Delivery("B", 0, 4, "NONE"), Delivery("C", 0, None, "INVALID_RECORD")],
    decisions={
        "B": [
            Moment(kind="decision", text="a gap", decision="refused", error="OUT_OF_ORDER_SEQUENCE_NUMBER"),
            Moment(kind="decision", text="appended", decision="appended"),
        ]
    },
    stored=[stored("A", 0), stored("B", 2), stored("B", 4, epoch=1)],
    cached=["A", "B"],
    verdict={"records": {"in_log": 6}, "findings": []},
    groups={"billing": {"findings": [{"kind": "hanging", "offsets": [5, 9], "why": "worker got the same offsets"}]}},
    streamed=["A-1", "A-2", "B-1", "B-2"],
    committed=[stored("A", 0)],
    ends=["NONE", "PRODUCER_FENCED"],
    consumers={"reader": FinishedConsumer(["A-1", "A-2", "B-1", "B-2"], ["DIVERGING_EPOCH"])},
    errors={"reader": ["TOPIC_AUTHORIZATION_FAILED"]},
    authenticates_again=True,
    received_ms={"A": 1000, "B": 2500},
)


def only(expected: Expectation, seen: RunResult = SEEN) -> Check:
    [found] = check(expected, seen)
    return found


def test_the_log_is_compared_in_order() -> None:
    assert only(Expectation(log={"0": ["A", "B", "B"]})).passed
    assert not only(Expectation(log={"0": ["A", "B"]})).passed
    assert only(Expectation(log={"1": []})).passed


def test_errors_of_a_consumer_are_compared_in_order() -> None:
    assert only(Expectation(errors={"reader": ["TOPIC_AUTHORIZATION_FAILED"]})).passed
    assert not only(Expectation(errors={"other": ["TOPIC_AUTHORIZATION_FAILED"]})).passed


def test_another_authentication_is_compared_if_it_is_expected() -> None:
    assert only(Expectation(authenticates_again=True)).passed
    assert not only(Expectation(authenticates_again=False)).passed


def test_the_findings_on_a_group_are_compared() -> None:
    hanging = ExpectedFinding(kind="hanging", offsets=[5, 9], why="the same offsets")

    assert only(Expectation(groups={"billing": [hanging]})).passed
    assert not only(Expectation(groups={"billing": []})).passed
    assert not only(Expectation(groups={"billing": [hanging, hanging]})).passed
    assert not only(Expectation(groups={"billing": [replaced(hanging, why="other offsets")]})).passed
    assert not only(Expectation(groups={"billing": [replaced(hanging, offsets=[5, 8])]})).passed


def test_the_findings_on_the_topic_are_compared_if_they_are_expected() -> None:
    assert only(Expectation(findings=[])).passed
    assert not only(Expectation(findings=[ExpectedFinding(kind="lost", offsets=[0, 1], why="")])).passed


def test_what_a_consumer_has_read_is_compared_in_order() -> None:
    assert only(Expectation(consumed={"reader": ["A", "B"]})).passed
    assert not only(Expectation(consumed={"reader": ["B", "A"]})).passed


def test_the_resets_of_a_consumer_are_compared() -> None:
    assert only(Expectation(resets={"reader": ["DIVERGING_EPOCH"]})).passed
    assert not only(Expectation(resets={"reader": []})).passed


def test_the_time_between_two_batches_is_compared() -> None:
    assert only(Expectation(waits={"A, B": 1500})).passed
    assert not only(Expectation(waits={"A, B": 1501})).passed
    assert not only(Expectation(waits={"A, C": 0})).passed


def test_a_split_batch_counts_once() -> None:
    cut = [StoredBatch("A", 0, 0, 7, 0, ["A-1"]), StoredBatch("A", 0, 1, 7, 0, ["A-2"])]

    assert only(Expectation(log={"0": ["A"]}), replace(SEEN, stored=cut)).passed


def test_a_copy_without_one_event_has_unequal_copies() -> None:
    half = [StoredBatch("A", 0, 0, 7, 0, ["A-1", "A-2"]), StoredBatch("A", 0, 2, 7, 0, ["A-1"])]

    assert not only(Expectation(copies={"A": 2}), replace(SEEN, stored=half)).passed


def test_a_response_belongs_to_the_copy_with_its_offset() -> None:
    assert only(Expectation(answers={"A": "copy 1"})).passed
    assert only(Expectation(answers={"B": "copy 2"})).passed
    assert not only(Expectation(answers={"B": "copy 1"})).passed
    assert only(Expectation(answers={"C": "INVALID_RECORD"})).passed
    assert not only(Expectation(answers={"D": "none"})).passed


def test_decisions_are_compared_exactly_with_the_raw_client() -> None:
    assert only(Expectation(decisions={"B": ["OUT_OF_ORDER_SEQUENCE_NUMBER", "appended"]})).passed
    assert not only(Expectation(decisions={"B": ["appended"]})).passed


def test_decisions_about_a_real_client_may_have_others_between_them_but_no_other_order() -> None:
    real = replace(SEEN, client="confluent")

    assert only(Expectation(decisions={"B": ["appended"]}), real).passed
    assert not only(Expectation(decisions={"B": ["appended", "OUT_OF_ORDER_SEQUENCE_NUMBER"]}), real).passed


def test_a_reason_must_contain_the_text() -> None:
    assert only(Expectation(why={"B": "a gap"})).passed
    assert not only(Expectation(why={"B": "an old epoch"})).passed
    assert not only(Expectation(why={"A": "a gap"})).passed


def test_numbers_of_the_verdict_producers_epochs_and_the_cache() -> None:
    assert only(Expectation(verdict={"records": {"in_log": 6}})).passed
    assert not only(Expectation(verdict={"records": {"in_log": 5}})).passed
    assert not only(Expectation(verdict={"records": {"unheard_of": 0}})).passed
    assert only(Expectation(producers=1)).passed
    assert only(Expectation(epochs=[0, 1])).passed
    assert not only(Expectation(epochs=[0])).passed
    assert not only(Expectation(cached=["B"])).passed


def test_a_stream_is_complete_once_and_in_order() -> None:
    whole = replace(SEEN, stored=[stored("A", 0), stored("B", 2)])
    turned = replace(SEEN, stored=[stored("B", 0), stored("A", 2)])

    assert only(Expectation(streamed_once=True), whole).passed
    assert not only(Expectation(streamed_once=True), turned).passed
    assert not only(Expectation(streamed_once=True)).passed


def test_committed_batches_and_the_ends_of_transactions_are_compared_in_order() -> None:
    assert only(Expectation(committed={"0": ["A"]})).passed
    assert not only(Expectation(committed={"0": ["A", "B", "B"]})).passed
    assert only(Expectation(ends=["NONE", "PRODUCER_FENCED"])).passed
    assert not only(Expectation(ends=["PRODUCER_FENCED", "NONE"])).passed
