"""Assertions on a verdict: when they fail, and what the failure says."""

import pytest

from fauxka.faults.verdict.topic_verdict import FINDINGS_SHOWN, TopicVerdict
from fauxka.testing import Broker

from .journal_scene import Batch, JournalScene, events, numbered

A, B = numbered(114, 120), numbered(121, 124)
WITHOUT_PRODUCER = Batch(-1, events(0, 0), producer_id=-1, producer_epoch=-1)
COPY_LINE = (
    "    appended twice: partition 0, offsets 0 and 1: a batch without a producer id was appended at offsets 0..0, and "
    "its response was not sent (rule 1: close at applied); the batch is also at offsets 1..1: a batch without a "
    "producer id is never recognised as a duplicate"
)
LOST_LINE = (
    "    acknowledged lost: partition 0, offsets 7..10, producer 4000 epoch 0, sequences from 121: it was acknowledged "
    "at offsets 7..10, and after a crash the log ended at 7"
)


def exactly_once() -> TopicVerdict:
    scene = JournalScene()
    scene.send(A)
    scene.lose_answer(B)
    scene.send(B, connection=2)
    return scene.verdict()


def duplicated() -> TopicVerdict:
    scene = JournalScene()
    scene.lose_answer(WITHOUT_PRODUCER)
    scene.send(WITHOUT_PRODUCER, connection=2)
    return scene.verdict()


def lost() -> TopicVerdict:
    scene = JournalScene()
    scene.send(A)
    scene.send(B)
    scene.truncate(0, to_offset=7)
    return scene.verdict()


def failure_of(verdict: TopicVerdict) -> str:
    with pytest.raises(AssertionError) as raised:
        verdict.assert_exactly_once()
    return str(raised.value)


def test_recognised_duplicate_is_exactly_once() -> None:
    verdict = exactly_once()

    verdict.assert_exactly_once()
    verdict.assert_nothing_lost()
    verdict.assert_no_duplicates()


def test_failure_lists_the_duplicate_with_its_reason() -> None:
    verdict = duplicated()

    assert failure_of(verdict).splitlines() == [
        "orders: expected exactly once, found 1 record in the log twice",
        COPY_LINE,
    ]
    verdict.assert_nothing_lost()
    with pytest.raises(AssertionError, match=r"^orders: expected no duplicates, found 1 record in the log twice\n"):
        verdict.assert_no_duplicates()


def test_failure_lists_the_lost_batch_with_its_reason() -> None:
    verdict = lost()

    assert failure_of(verdict).splitlines() == [
        "orders: expected exactly once, found 1 acknowledged batch lost",
        LOST_LINE,
    ]
    verdict.assert_no_duplicates()
    with pytest.raises(AssertionError, match=r"^orders: expected nothing lost, found 1 acknowledged batch lost\n"):
        verdict.assert_nothing_lost()


def test_failure_shows_the_first_findings_and_counts_the_others() -> None:
    scene = JournalScene(partitions=FINDINGS_SHOWN + 2)
    for number in range(FINDINGS_SHOWN + 2):
        scene.send(numbered(number, number, partition=number))
        scene.truncate(number, to_offset=0)

    lines = failure_of(scene.verdict()).splitlines()

    assert lines[0] == "orders: expected exactly once, found 7 acknowledged batches lost"
    assert len(lines) == 1 + FINDINGS_SHOWN + 1
    assert lines[-1] == "    and 2 more"


def test_failure_counts_the_findings_that_the_verdict_left_out() -> None:
    verdict = lost()
    verdict.findings_left_out = 3

    assert failure_of(verdict).splitlines()[-1] == "    and 3 findings of any kind that this verdict left out"


def test_stored_batch_without_an_acknowledgement_is_no_failure() -> None:
    scene = JournalScene()
    scene.lose_answer(A)

    scene.verdict().assert_exactly_once()


@pytest.mark.parametrize("name", ["assert_exactly_once", "assert_nothing_lost", "assert_no_duplicates"])
def test_topic_without_records_and_batches_fails(name: str) -> None:
    verdict = JournalScene().verdict_of("oders")

    with pytest.raises(AssertionError, match="nothing was produced to 'oders', so there is nothing to judge"):
        getattr(verdict, name)()


@pytest.mark.parametrize("name", ["assert_exactly_once", "assert_nothing_lost", "assert_no_duplicates"])
def test_topic_with_test_data_only_fails(name: str) -> None:
    with Broker() as broker:
        broker.topics.seed("orders", ["one coffee", "one tea"], create=True)
        verdict = broker.verdict("orders")

    message = r"nothing was produced to 'orders' \(2 in its log: test data, or older than the journal\), so"
    with pytest.raises(AssertionError, match=message):
        getattr(verdict, name)()


def test_repr_is_one_line_with_the_counts_that_are_not_0() -> None:
    assert repr(duplicated()) == "<verdict on 'orders': 1 appended twice; records in the log: 2, duplicates: 1>"
    assert repr(JournalScene().verdict()) == "<verdict on 'orders': no batches; records in the log: 0, duplicates: 0>"


def test_deleted_records_are_exactly_once_and_in_the_repr() -> None:
    scene = JournalScene()
    scene.send(A)
    scene.delete_records(0, 7)

    verdict = scene.verdict()

    verdict.assert_exactly_once()
    assert repr(verdict) == ("<verdict on 'orders': 1 appended once; records in the log: 0, duplicates: 0, deleted: 7>")


def test_a_producer_from_before_the_reset_is_no_failure_of_exactly_once() -> None:
    scene = JournalScene()
    scene.journal.data_reset(first_producer_id=numbered(0, 0).producer_id + 1)
    scene.send(A)

    scene.verdict().assert_exactly_once()


def test_duplicates_are_not_denied_where_they_would_not_have_been_found() -> None:
    verdict = exactly_once()
    verdict.forgotten = 3

    verdict.assert_nothing_lost()
    with pytest.raises(AssertionError, match="copies of 3 unacknowledged batches"):
        verdict.assert_no_duplicates()
    with pytest.raises(AssertionError, match="copies of 3 unacknowledged batches"):
        verdict.assert_exactly_once()
