"""The errors of a request of the journal: of its response as a whole, of its batches, and inside its response."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...protocol.error_codes import KafkaError
from ...protocol.errors.error_places import ErrorPlace
from .details.exchange import error_name_of
from .details.models import RequestDetails, ResponseError
from .details.response_errors import ResponseErrors
from .journal_record import JournalRecord, NotApplied
from .request_outcomes import ReplacedResponse


@dataclass(frozen=True, slots=True)
class EntryErrors:
    """error: of the response as a whole, else the first one. first, more, names: see RequestDetails."""

    error: str | None
    first: ResponseError | None
    more: int
    names: frozenset[str]


def entry_errors(record: JournalRecord, replaced: ReplacedResponse | None, details: RequestDetails) -> EntryErrors:
    """Return the errors of a request. replaced: the error code that replaced the decided one."""
    if record.batches:
        found = ResponseErrors(lambda _: None)
        for place in _batch_errors(record, replaced):
            found.add_place(place)
        first, more, names = found.first_error(None, None), found.more, frozenset(found.names)
    else:
        first, more, names = details.first_error, details.more_errors, details.errors
    error = None if first is None else first.error
    if replaced is not None:
        error = error_name_of(replaced.error_code)
    elif record.error_code:
        error = error_name_of(record.error_code)
    if error is not None and first is None:
        first = ResponseError(error=error)
    return EntryErrors(error, first, more, names if error is None else names | {error})


def _batch_errors(record: JournalRecord, replaced: ReplacedResponse | None) -> Iterator[ErrorPlace]:
    """Yield the errors of the batches, as in the response."""
    for topic, partition, decision in record.batches or ():
        code = 0
        if replaced is not None and replaced.covers(topic, partition):
            code = replaced.error_code
        elif isinstance(decision, KafkaError):
            code = decision.code
        elif isinstance(decision, NotApplied):
            code = decision.error_code
        if code:
            yield ErrorPlace(code, topic, partition)
