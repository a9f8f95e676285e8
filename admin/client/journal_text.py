"""Requests of the journal as text, from the JSON of the admin API."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...faults.journal.details.models import RequestDetails
from ...faults.journal.details.texts import answered_text, asked_text, error_text
from ...faults.journal.journal_entries import KEPT_BY
from ...faults.strict_json import convert

NOT_WRITTEN = "not_written"


def journal_lines(entries: Sequence[Mapping[str, Any]], dropped: int) -> Iterator[str]:
    """Yield the lines of all requests. dropped: how many older ones are no longer kept."""
    if dropped:
        yield f"{dropped} older requests are no longer kept ({KEPT_BY})"
    if not entries:
        yield "no requests"
    for entry in entries:
        yield from entry_lines(entry)


def entry_lines(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line with a request and its response, one with its details, and one for each of its batches."""
    names = ", ".join([*entry["topics"], *entry["group_ids"]])
    api = f"{entry['api']} {entry['api_version']}{f' {names}' if names else ''}"
    head = f"{entry['id']:>6}  {_time(entry['at_ms'])}  {entry['client_id'] or '-'}  {api}"
    details = convert(entry, RequestDetails)
    yield f"{head}: {_response(entry, details)}"
    texts = asked_text(details), answered_text(details) if details.first_error is None else ""
    if any(texts):
        yield f"        {' -> '.join(text for text in texts if text)}"
    for batch in entry["batches"]:
        yield f"        {_batch(batch)}"


def _time(at_ms: int) -> str:
    """Return the time of day in UTC."""
    return f"{time.strftime('%H:%M:%S', time.gmtime(at_ms // 1000))}.{at_ms % 1000:03d}Z"


def _response(entry: Mapping[str, Any], details: RequestDetails) -> str:
    faults = ", ".join(f"{fault['kind']} at {fault['point']} by rule {fault['rule']}" for fault in entry["faults"])
    if entry["answer"] == NOT_WRITTEN:
        response = "no response, the client has closed" if entry.get("client_closed") else "no response"
    elif entry["answered"]:
        response = entry["error"] or "no error"
        if details.first_error is not None and details.first_error.error == response and not entry["batches"]:
            response = error_text(details.first_error, details.more_errors)
    else:
        response = str(entry["answer"]).replace("_", " ")
    return f"{response}; {faults}" if faults else response


def _batch(batch: Mapping[str, Any]) -> str:
    place = f"{batch['topic']}-{batch['partition']}"
    why = batch["why"] or f"{batch['records']} records {batch['decision'].replace('_', ' ')}"
    return f"{place}: {batch['error']}: {why}" if batch["error"] else f"{place}: {why}"
