"""The journal of a fauxka as a ledger: compares its Produce responses with its log, without help of the application.

The journal has no event ids. A record is identified by its producer, epoch and sequence, or by its offset if it has no
producer. In the second case a record that a crash removed and another replaced at the same offset is not found as lost.
A request without a response (acks=0) counts as acknowledged once it was appended.
The journal is read on the driver; fauxka.journal.requests.max limits its length.
"""

from __future__ import annotations

import http.client
from collections.abc import Iterable, Iterator
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request

import msgspec
from msgspec import Struct
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from ...client.http_opener import new_opener
from ...protocol.sequences import MAX_SEQUENCE
from ...storage.file_systems.path_problems import find_path_problem
from ..bad_option import BadOption
from ..read.stores import store_of
from .audited_topics import AuditedTopics
from .ledger_audit import audit_ledger

JOURNAL_PATH = "/v1/journal"
# The largest page of the admin API.
PAGE_ENTRIES_MAX = 10_000
PAGE_SECONDS_MAX = 60

# msgspec raises any of these for bytes that are not JSON of the wanted shape.
_NO_JOURNAL = (msgspec.DecodeError, RecursionError, ValueError)

_BATCH_SCHEMA = (
    "request bigint, topic string, partition int, producer_id bigint, producer_epoch int, base_sequence bigint,"
    " records int, base_offset bigint, key string, error string"
)
_BatchRow = tuple[int, str, int, int, int, int, int, int, str, str | None]


class JournalBatch(Struct):
    """The fields of a batch in the journal that are read."""

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records: int
    decision: str
    error: str | None
    base_offset: int


class JournalRequest(Struct):
    """The fields of a request in the journal that are read."""

    id: int
    node: int
    connection: int
    api: str
    answer: str
    error: str | None
    batches: list[JournalBatch]


class _Page(Struct):
    items: list[JournalRequest]
    next: str | None = None


def audit_journal(
    records: DataFrame, journal: DataFrame, batches: DataFrame | None = None, bounds: DataFrame | None = None
) -> DataFrame:
    """Return the findings of audit_ledger for a journal from read_journal.

    Two of them are dropped: records of an aborted transaction, because the application aborted it, and unknown records
    in front of the first offset in the journal, because they are older than the journal.
    """
    starts = journal.groupBy("topic", "partition").agg(f.min("offset").alias("journal_start"))
    findings = audit_ledger(records, journal, journal_event_id(), batches, bounds)
    is_aborted = f.col("cause").eqNullSafe("aborted_transaction")
    is_older = (f.col("kind") == "unknown_event") & (f.col("offset") < f.coalesce("journal_start", f.col("offset") + 1))
    judged = findings.where(~is_aborted).join(f.broadcast(starts), ["topic", "partition"], "left").where(~is_older)
    return judged.select(*findings.columns)


def journal_event_id() -> Column:
    """Return the event id, as in the ledger of read_journal, as a column over the records view."""
    return _event_id(f.col("offset"), f.col("sequence"))


def read_journal(
    spark: SparkSession, text: str, token: str | None = None, topics: AuditedTopics | None = None
) -> DataFrame:
    """Return a ledger with the columns of SENT_KINDS, a line for each record of each Produce request in the journal.

    text: the address of the admin API (http://127.0.0.1:9099), or a file (a path or a URI of an object store) with a
    response of GET /v1/journal: a page, a list of entries, or one entry a line. token: bearer token of the admin API.
    topics: batches of other topics are left out. Raises BadOption.
    """
    requests = _requests_at(text, token) if is_address(text) else _requests_in(text)
    return journal_ledger(spark, requests, topics)


def is_address(text: str) -> bool:
    """Whether a journal is read from an admin API, and not from a file."""
    return text.startswith(("http://", "https://"))


def journal_ledger(
    spark: SparkSession, requests: Iterable[JournalRequest], topics: AuditedTopics | None = None
) -> DataFrame:
    """Return the ledger of the requests, ordered by their ids. topics: as for read_journal."""
    rows = [row for request in requests if request.api == "Produce" for row in _rows_of(request, topics)]
    batches = spark.createDataFrame(rows, _BATCH_SCHEMA)
    each = batches.select("*", f.explode(f.sequence(f.lit(0), f.col("records") - 1)).alias("delta"))
    offset = f.when(f.col("base_offset") >= 0, f.col("base_offset") + f.col("delta"))
    sequence = (f.col("base_sequence") + f.col("delta")) % (MAX_SEQUENCE + 1)
    place_in_request = f.concat_ws(
        " ", f.lit("request"), "request", f.concat("topic", f.lit("-"), "partition"), "delta"
    )
    return each.select(
        f.coalesce(_event_id(offset, f.when(f.col("base_sequence") >= 0, sequence)), place_in_request).alias(
            "event_id"
        ),
        "key",
        f.col("request").alias("ordinal"),
        "topic",
        "partition",
        offset.alias("offset"),
        "error",
    )


def _event_id(offset: Column, sequence: Column) -> Column:
    place = f.concat("topic", f.lit("-"), "partition")
    producer = f.concat(f.lit(" producer "), "producer_id", f.lit("/"), "producer_epoch", f.lit(" sequence "), sequence)
    has_producer = (f.col("producer_id") >= 0) & (sequence >= 0)
    return f.concat(place, f.when(has_producer, producer).otherwise(f.concat(f.lit(" offset "), offset)))


def _rows_of(request: JournalRequest, topics: AuditedTopics | None) -> Iterator[_BatchRow]:
    batch_errors = {batch.error for batch in request.batches}
    # An error that no batch has applies to all: it is of the response itself, or injected.
    error_of_all = None if request.error in batch_errors else request.error
    for batch in request.batches:
        error = batch.error or error_of_all
        if request.answer == "not_owed" and batch.decision == "not_applied":
            continue
        if error is None and request.answer not in ("written", "not_owed"):
            error = f"no response ({request.answer})"
        is_identified = batch.producer_id >= 0 or batch.base_offset >= 0 or error is None
        is_audited = topics is None or topics.has(batch.topic)
        if batch.records > 0 and is_identified and is_audited:
            yield _row(request, batch, error)


def _row(request: JournalRequest, batch: JournalBatch, error: str | None) -> _BatchRow:
    if batch.producer_id >= 0:
        key = f"producer {batch.producer_id} of {batch.topic}-{batch.partition}"
    else:
        key = f"connection {request.node}/{request.connection} of {batch.topic}-{batch.partition}"
    return (
        *(request.id, batch.topic, batch.partition, batch.producer_id, batch.producer_epoch, batch.base_sequence),
        *(batch.records, batch.base_offset, key, error),
    )


def _requests_in(text: str) -> list[JournalRequest]:
    store, place = store_of("journal", text)
    try:
        content = store.read(place)
    except OSError as error:
        problem = find_path_problem(text, error) or f"{text} cannot be read: {error.strerror or error}"
        raise BadOption(f"journal: {problem}") from error
    try:
        page = msgspec.json.decode(content, type=_Page | list[JournalRequest])
        return page.items if isinstance(page, _Page) else page
    except _NO_JOURNAL:
        pass
    try:
        return msgspec.json.Decoder(JournalRequest).decode_lines(content)
    except _NO_JOURNAL as error:
        raise BadOption(f"journal: {text} is not a response of GET {JOURNAL_PATH}: {error}") from error


def _requests_at(text: str, token: str | None) -> Iterator[JournalRequest]:
    address = urlsplit(text)
    base = f"{address.scheme}://{address.netloc}{JOURNAL_PATH}"
    since: str | None = "0"
    while since is not None:
        query = urlencode({"api": "Produce", "since": since, "limit": PAGE_ENTRIES_MAX})
        page = _page_of(f"{base}?{query}", token)
        yield from page.items
        since = page.next


def _page_of(url: str, token: str | None) -> _Page:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    try:
        with new_opener().open(Request(url, headers=headers), timeout=PAGE_SECONDS_MAX) as response:
            return msgspec.json.decode(response.read(), type=_Page)
    except HTTPError as error:
        # It holds the connection.
        error.close()
        raise BadOption(f"journal: {url} returned {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException, *_NO_JOURNAL) as error:
        raise BadOption(f"journal: {url} cannot be read: {error}") from error
