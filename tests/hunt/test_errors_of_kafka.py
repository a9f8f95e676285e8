"""The errors that Kafka lists for an API: each is tried at it, or left out for a reason that the report has."""

from functools import partial

import pytest

from fauxka.faults.hunted_faults import Origin
from fauxka.protocol.apis.possible_errors import POSSIBLE_ERRORS
from fauxka.testing import Broker, hunt, report_text
from fauxka.testing.hunting.api_errors import left_out
from fauxka.testing.hunting.judgement import Outcome
from fauxka.testing.hunting.plan import NEWEST_VERSION, RANKS, Target, faults_of, plan_of
from fauxka.testing.hunting.report_files import json_text

from .programs import send
from .test_faults_in_programs import judged


def test_every_api_that_is_hunted_has_its_errors() -> None:
    assert set(RANKS) == set(POSSIBLE_ERRORS)


@pytest.mark.parametrize("api", POSSIBLE_ERRORS)
def test_an_error_is_tried_or_has_a_reason(api: str) -> None:
    names = {fault.name.split()[0] for fault in faults_of(api, set(RANKS)) if fault.origin is Origin.KAFKA}
    reasons = {error.name for error in left_out(api, NEWEST_VERSION, set(RANKS))}

    assert {error.name for error in POSSIBLE_ERRORS[api]} <= names | reasons
    assert names.isdisjoint(reasons)


def test_a_client_gets_no_error_that_its_version_does_not_have() -> None:
    old, new = (Target((("api", api),), 0, 1, version=version) for api, version in (("EndTxn", 3), ("EndTxn", 4)))

    assert not [trial for trial in plan_of([old]) if str(trial).startswith("TRANSACTION_ABORTABLE")]
    assert [trial for trial in plan_of([new]) if str(trial).startswith("TRANSACTION_ABORTABLE")]
    assert "version" in next(reason for error, reason in left_out("EndTxn", 3, {"EndTxn"}).items() if error == 120)


def test_a_program_without_transactions_gets_no_error_of_them() -> None:
    names = {fault.name for fault in faults_of("Produce")}

    assert "TRANSACTIONAL_ID_AUTHORIZATION_FAILED" not in names
    assert "TRANSACTIONAL_ID_AUTHORIZATION_FAILED" in {fault.name for fault in faults_of("Produce", {"EndTxn"})}


def send_and_ignore(broker: Broker) -> None:
    """Send events, and report none that was refused."""
    try:
        send(broker, [b"a", b"b"])
    except RuntimeError:
        return


@pytest.mark.parametrize("error", ["MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE", "INVALID_RECORD"])
def test_a_refused_record_is_missing_if_the_program_reports_it_to_nobody(error: str) -> None:
    fault = f"{error}: Produce 2 of 2 to orders-0"

    assert judged(fault, send_and_ignore, topics=["orders"]).kinds == {"missing"}
    assert judged(fault, partial(send, events=[b"a", b"b"]), topics=["orders"]).outcome is Outcome.ERROR


def test_a_report_says_why_errors_were_not_tried() -> None:
    result = hunt(partial(send, events=[b"a"]), topics=["orders"], budget=1)

    text = report_text(result)
    assert "errors not tried, because the request itself would be wrong: INVALID_REQUEST, INVALID_REQUIRED_ACKS" in text
    assert "errors not tried, because the program has no transactions: CONCURRENT_TRANSACTIONS" in text
    assert '"INVALID_REQUIRED_ACKS": "the request itself would be wrong"' in json_text(result)
