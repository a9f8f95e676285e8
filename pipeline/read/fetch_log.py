"""The topics of a broker as a log: start and end offsets, and splits between them, for batch and streaming queries."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ...client.client_security import PLAINTEXT
from .broker_topics import Leaders, Offsets, find_leaders, list_offsets, retry
from .fetch_splits import FetchSplit
from .options import EARLIEST, LATEST, LogOptions, OffsetChoice, check_record_found


class FetchLog:
    """The topics that the options select on a cluster."""

    def __init__(self, options: LogOptions) -> None:
        """options: with bootstrap. Sends no request."""
        self._options = options

    def splits(self) -> list[FetchSplit]:
        """Return the splits of a batch query: all selected records that the topics have now."""
        leaders = self._leaders()
        return self.splits_between(self._chosen(leaders, self._options.starting), self._ends(leaders))

    def beginnings(self) -> Offsets:
        """Return the start of a stream."""
        return self._chosen(self._leaders(), self._options.starting)

    def ends(self) -> Offsets:
        """Return the end offsets: high watermarks, or with read_committed last stable offsets."""
        return self._chosen(self._leaders(), OffsetChoice(LATEST, {}))

    def log_starts(self) -> Offsets:
        """Return the log start offsets."""
        return self._chosen(self._leaders(), OffsetChoice(EARLIEST, {}))

    def whole_range(self) -> tuple[Offsets, Offsets]:
        """Return the log start offsets and the end offsets."""
        leaders = self._leaders()
        whole = (OffsetChoice(EARLIEST, {}), OffsetChoice(LATEST, {}))
        return self._chosen(leaders, whole[0]), self._chosen(leaders, whole[1])

    def chosen_range(self) -> tuple[Offsets, Offsets]:
        """Return the starts and the ends of a batch query."""
        leaders = self._leaders()
        return self._chosen(leaders, self._options.starting), self._ends(leaders)

    def open_transaction_offsets(self) -> Offsets:
        """Return the last stable offsets that are below the high watermark; none with read_uncommitted."""
        if not self._options.is_committed:
            return {}
        leaders = self._leaders()
        stable = retry(partial(list_offsets, self._options, leaders, LATEST))
        watermarks = retry(partial(list_offsets, replace(self._options, is_committed=False), leaders, LATEST))
        return {name: offset for name, offset in stable.items() if offset < watermarks[name]}

    def splits_between(self, starts: Offsets, ends: Offsets) -> list[FetchSplit]:
        """Return the splits from starts to ends, without security. A partition without a start begins at offset 0."""
        size = self._options.split_records
        # A task has these once, beside its splits.
        options = replace(self._options, security=PLAINTEXT, wanted=None)
        return [
            FetchSplit(options, *name, at, min(at + size, end), is_first=at == starts.get(name, 0))
            for name, end in sorted(ends.items())
            for at in range(starts.get(name, 0), end, size)
        ]

    def _leaders(self) -> Leaders:
        return retry(lambda: find_leaders(self._options, self._options.topics))

    def _ends(self, leaders: Leaders) -> Offsets:
        """Return the end of a batch query, limited to the end offsets."""
        chosen = self._chosen(leaders, self._options.ending)
        latest = self._chosen(leaders, OffsetChoice(LATEST, {}))
        return {name: min(end, latest[name]) for name, end in chosen.items()}

    def _chosen(self, leaders: Leaders, choice: OffsetChoice) -> Offsets:
        """Return the offsets of a choice, with a timestamp, EARLIEST and LATEST resolved by the brokers."""
        chosen = {name: choice.of(*name) for name in leaders}
        if choice.timestamp is not None:
            # For a partition without a record at or behind the time the offset is -1, which is LATEST.
            chosen = retry(partial(list_offsets, self._options, leaders, choice.timestamp))
            check_record_found(choice, chosen)
        for timestamp in (EARLIEST, LATEST):
            unresolved = {name: leader for name, leader in leaders.items() if chosen[name] == timestamp}
            if unresolved:
                chosen |= retry(partial(list_offsets, self._options, unresolved, timestamp))
        return chosen
