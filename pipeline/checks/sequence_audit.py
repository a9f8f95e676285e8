"""Audit of the batch headers: gaps, repeats, regressions, damage, and transactions that were aborted or are open.

Records are not read. An event that the application sent twice has two sequences, so only the event audit finds it.
Findings about a producer's sequences and epochs have the check `sequence`, all others `log`. Compaction removes
batches: missing sequences are no gap as far as the log lacks offsets too.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from .finding_rule import Rule, apply_rules
from .findings import in_words
from .log_facts import FACTS_SCHEMA
from .log_order import (
    by_producer,
    in_log_order,
    with_facts,
    with_leader_epochs,
    with_missing_offsets,
    with_range_start,
)
from .sequence_steps import SEQUENCES, with_sequence_steps
from .transaction_spans import with_producer_past, with_transactions
from .transaction_timeouts import TransactionTimeouts

# The cause by the first words of the column damage; any other text means that the records are unreadable.
_DAMAGE_CAUSES = {
    "its CRC-32C is": "wrong_crc",
    "a message of magic": "old_format",
    "no batch": "no_batch",
    "cut off": "cut_off",
    "the last": "cut_off",
}
_OTHER_DAMAGE = "unreadable_records"


def audit_sequences(
    batches: DataFrame,
    as_of: Column | None = None,
    timeouts: TransactionTimeouts | None = None,
    ranges: DataFrame | None = None,
    facts: DataFrame | None = None,
) -> DataFrame:
    """Return the findings of a frame of the batches view.

    as_of: the time by which an open transaction is a hanging one; default: the newest timestamp of the partition, so
    that the same log always has the same findings. timeouts: from read_timeouts; default: Kafka's. ranges: of an
    AuditedRange; batches in front of a range have no findings. facts: of FACTS_SCHEMA; default: nothing is known.
    """
    facts = batches.sparkSession.createDataFrame([], FACTS_SCHEMA) if facts is None else facts
    rows = in_log_order(batches)
    # Offsets in front of the range are no hole, also if the log lacks its start.
    rows = with_facts(rows if ranges is None else with_range_start(rows, ranges), facts)
    rows = with_missing_offsets(with_leader_epochs(rows))
    rows = rows.withColumn("as_of", f.col("newest_timestamp") if as_of is None else as_of)
    rows = with_transactions(with_sequence_steps(with_producer_past(by_producer(rows))))
    rows = (timeouts or TransactionTimeouts()).with_limit(rows)
    if ranges is not None:
        rows = rows.where(
            ~f.coalesce(f.col("is_trusted") & (f.col("base_offset") < f.col("range_start")), f.lit(False))
        )
    of_batch = {name: name for name in ("topic", "partition", "producer_id", "producer_epoch", "base_sequence")}
    place = {"offset": f.col("base_offset"), "timestamp": f.when(f.col("is_trusted"), f.col("base_timestamp"))}
    rules = [*_log_rules(), *_epoch_rules(), *_sequence_rules(), *_transaction_rules()]
    return apply_rules(rows, rules, {**of_batch, **place})


def damage_cause() -> Column:
    """Return the cause of a damaged batch, derived from the column damage."""
    cause = f.lit(_OTHER_DAMAGE)
    for words, name in _DAMAGE_CAUSES.items():
        cause = f.when(f.col("damage").startswith(words), name).otherwise(cause)
    return cause


def _log_rules() -> list[Rule]:
    """Return the rules about damage and offsets."""
    before = f.col("offset_before")
    lost_count, cleaned_count = f.col("partition_lost_holes"), f.col("partition_cleaned_holes")
    lacking = " offsets are not in the log, the first of them "
    lost = in_words(lost_count, lacking, f.col("lost_from"), ": a segment was lost, or the partition compacted")
    cleaned = in_words(cleaned_count, lacking, before + 1)
    of_file = in_words(" of ", f.col("file"), " at position ", f.col("position"))
    place = f.when(f.col("file").isNotNull(), of_file).otherwise("")
    # With a wrong CRC the header counts as far as its two numbers of records agree.
    is_counted = f.col("is_trusted") | (f.col("records_count") == f.col("last_offset_delta") + 1)
    unreadable = f.when(is_counted & (f.col("records_count") > 0), f.col("records_count")).otherwise(1)
    damage = in_words(f.col("batch_bytes"), " bytes", place, ": ", f.col("damage"))
    regression = in_words("offset ", f.col("base_offset"), " comes behind offset ", before)
    is_behind = f.col("is_trusted") & (f.col("base_offset") <= before)
    is_lost, is_cleaned = _is_first("lost_hole"), _is_first("cleaned_hole")
    return [
        Rule("log", "damaged_batch", f.col("is_damaged"), unreadable, damage, cause=damage_cause()),
        Rule("log", "missing_offsets", is_lost, lost_count, lost, before, f.col("hole_cause")),
        Rule("log", "compacted_offsets", is_cleaned, cleaned_count, cleaned, before),
        Rule("log", "offset_regression", is_behind, f.col("records_count"), regression, before),
    ]


def _is_first(hole: str) -> Column:
    """Return whether a batch is the first one of its partition behind a hole. hole: lost_hole or cleaned_hole."""
    return (f.col(hole) > 0) & (f.col(hole) == f.col(f"{hole}s"))


def _epoch_rules() -> list[Rule]:
    """Return the rules about leader epochs."""
    epoch, before, newest = f.col("leader_epoch"), f.col("leader_epoch_before"), f.col("newest_leader_epoch")
    # Only where the epoch falls: the batches behind it are of the same one.
    is_back = f.col("is_trusted") & (epoch >= 0) & (epoch < newest) & (epoch < before)
    back = in_words("leader epoch ", epoch, " comes behind leader epoch ", newest)
    others = f.col("partition_other_epochs")
    is_first_other = (f.col("of_other_epoch") > 0) & (f.col("of_other_epoch") == f.col("other_epochs"))
    other = in_words(
        *(others, " records have another leader epoch than leader-epoch-checkpoint has for them, the first of them "),
        *(epoch, " in place of ", f.col("epoch_by_checkpoint")),
    )
    return [
        Rule("log", "leader_epoch_regression", is_back, f.col("records_count"), back, f.col("offset_before")),
        Rule("log", "leader_epoch_mismatch", is_first_other, others, other),
    ]


def _sequence_rules() -> list[Rule]:
    """Return the rules about the sequences and epochs of idempotent producers."""
    reached = f.col("reached")["sequence"]
    reached_offset = f.col("reached")["offset"]
    missing = f.col("sequence_from") - reached - 1
    offsets_missing = f.col("holes") - f.col("reached")["holes"]
    is_back = f.col("is_sequenced") & (f.col("sequence_from") <= reached)
    is_repeat = f.col("first_offset") < f.col("base_offset")
    length = f.col("last_offset_delta") + 1
    sequences = in_words("sequences ", f.col("base_sequence"), " to ", f.col("last_sequence"))
    follows = in_words(" after sequence ", f.pmod(reached, f.lit(SEQUENCES)), " at offset ", reached_offset)
    after = f.when(reached_offset.isNull(), " as the first of the epoch").otherwise(follows)
    is_gap = f.col("is_sequenced") & (missing > f.greatest(offsets_missing, f.lit(0)))
    gap = in_words(missing, " sequences are missing: ", sequences, " come", after)
    repeat = in_words(sequences, " are at offset ", f.col("first_offset"), " already")
    is_old = f.col("is_trusted") & (f.col("producer_id") >= 0) & (f.col("producer_epoch") < f.col("epoch_before"))
    old = in_words("epoch ", f.col("producer_epoch"), " comes after epoch ", f.col("epoch_before"))
    return [
        Rule("sequence", "gap", is_gap, missing, gap, reached_offset),
        Rule("sequence", "repeat", is_back & is_repeat, length, repeat, f.col("first_offset")),
        Rule(
            "sequence", "regression", is_back & ~is_repeat, length, in_words(sequences, " come", after), reached_offset
        ),
        Rule("sequence", "epoch_regression", is_old, f.col("records_count"), old),
    ]


def _transaction_rules() -> list[Rule]:
    """Return the rules about transactions. A finding is at the first batch of its transaction."""
    end, start = f.col("transaction_end"), f.col("transaction_start")
    is_first = f.col("base_offset") == f.col("transaction_first_offset")
    is_reported = f.col("is_trusted") & f.col("is_transactional") & ~f.col("is_control") & is_first
    count, end_offset = f.col("transaction_records"), f.col("transaction_end_offset")
    open_ms = f.unix_millis(f.col("as_of")) - f.unix_millis(start)
    is_hanging = f.coalesce(open_ms > f.col("hangs_after_ms"), f.lit(False))
    aborted = in_words(count, " records of a transaction aborted by the marker at offset ", end_offset)
    still_open = in_words(count, " records of a transaction that no marker ends, ", open_ms, " ms after it began")
    is_open = is_reported & end.isNull()
    return [
        Rule("log", "aborted_transaction", is_reported & (end == "abort"), count, aborted, end_offset),
        Rule("log", "open_transaction", is_open & ~is_hanging, count, still_open),
        Rule("log", "hanging_transaction", is_open & is_hanging, count, still_open),
    ]
