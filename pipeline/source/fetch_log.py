"""A broker's topics as a log that is read from one offset to another: what a batch and a stream of them read."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ..options import EARLIEST, LATEST, LogOptions, OffsetChoice
from .broker_topics import Leaders, Offsets, find_leaders, list_offsets, retry
from .fetch_splits import FetchSplit


class FetchLog:
    """The topics that the options name, on the brokers that they name."""

    def __init__(self, options: LogOptions) -> None:
        """Ask nothing yet."""
        self._options = options

    def splits(self) -> list[FetchSplit]:
        """Return pieces of all that is wanted and there now."""
        leaders = self._leaders()
        return self.splits_between(self._chosen(leaders, self._options.starting), self._ends(leaders))

    def beginnings(self) -> Offsets:
        """Return where a stream begins."""
        return self._chosen(self._leaders(), self._options.starting)

    def ends(self) -> Offsets:
        """Return how far partitions may be read: up to the high watermark, or the last stable offset."""
        return self._chosen(self._leaders(), OffsetChoice(LATEST, {}))

    def open_transaction_offsets(self) -> Offsets:
        """Return where reading ends before the high watermark, as an open transaction begins there."""
        if not self._options.is_committed:
            return {}
        leaders = self._leaders()
        stable = retry(partial(list_offsets, self._options, leaders, LATEST))
        watermarks = retry(partial(list_offsets, replace(self._options, is_committed=False), leaders, LATEST))
        return {name: offset for name, offset in stable.items() if offset < watermarks[name]}

    def splits_between(self, starts: Offsets, ends: Offsets) -> list[FetchSplit]:
        """Return pieces from starts to ends; a partition that has no start is read from offset 0."""
        size = self._options.split_records
        return [
            FetchSplit(self._options, *name, at, min(at + size, end), is_first=at == starts.get(name, 0))
            for name, end in sorted(ends.items())
            for at in range(starts.get(name, 0), end, size)
        ]

    def _leaders(self) -> Leaders:
        return retry(lambda: find_leaders(self._options, self._options.topics))

    def _ends(self, leaders: Leaders) -> Offsets:
        """Return where a batch of rows ends: never behind what may be read."""
        chosen = self._chosen(leaders, self._options.ending)
        latest = self._chosen(leaders, OffsetChoice(LATEST, {}))
        return {name: min(end, latest[name]) for name, end in chosen.items()}

    def _chosen(self, leaders: Leaders, choice: OffsetChoice) -> Offsets:
        chosen = {name: choice.of(*name) for name in leaders}
        for word in (EARLIEST, LATEST):
            asked = {name: leader for name, leader in leaders.items() if chosen[name] == word}
            if asked:
                chosen |= retry(partial(list_offsets, self._options, asked, word))
        return chosen
