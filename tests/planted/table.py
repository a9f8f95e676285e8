"""The table of planted and found findings: precision and recall by check, kind and cause."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .events import Found

_NAME_WIDTH = 58
_GROUP_WIDTH = 34


@dataclass
class Tally:
    """The numbers of planted findings, found findings, and findings that are both."""

    planted: int = 0
    found: int = 0
    right: int = 0

    @property
    def precision(self) -> float:
        """The share of the found ones that were planted."""
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """The share of the planted ones that were found."""
        return self.right / self.planted if self.planted else 1.0

    @property
    def is_exact(self) -> bool:
        return self.planted == self.found == self.right


@dataclass
class Comparison:
    """The tallies by name of a finding, for one way to read a log."""

    tallies: dict[str, Tally] = field(default_factory=dict[str, Tally])

    def add(self, planted: Counter[Found], found: Counter[Found]) -> None:
        """Add the findings of one audit. Findings are equal if all columns of Found are."""
        for counted, name in ((planted, "planted"), (found, "found"), (planted & found, "right")):
            for one, count in counted.items():
                tally = self.tallies.setdefault(name_of(one), Tally())
                setattr(tally, name, getattr(tally, name) + count)

    @property
    def total(self) -> Tally:
        return Tally(
            *(sum(getattr(tally, name) for tally in self.tallies.values()) for name in ("planted", "found", "right"))
        )

    @property
    def is_exact(self) -> bool:
        return all(tally.is_exact for tally in self.tallies.values())


def name_of(found: Found) -> str:
    """Return check, kind and cause. A finding of a ledger is of the sent events or of the journal."""
    is_sent = found.check == "ledger" and str(found.event_id).startswith("event-")
    check = {True: "ledger --sent", False: "ledger --journal"}[is_sent] if found.check == "ledger" else found.check
    return f"{check}: {found.kind}" + (f" ({found.cause})" if found.cause else "")


def table_of(comparisons: Mapping[str, Comparison]) -> str:
    """Return the table as text. comparisons: by the way to read a log, such as `--path`."""
    names = sorted({name for comparison in comparisons.values() for name in comparison.tallies})
    heads = "".join(f"{way:>{_GROUP_WIDTH}}" for way in comparisons)
    columns = f"{'planted':>9}{'found':>7}{'precision':>10}{'recall':>8}" * len(comparisons)
    lines = [f"{'':{_NAME_WIDTH}}{heads}", f"{'check: kind (cause)':{_NAME_WIDTH}}{columns}"]
    lines += [_line(name, (comparison.tallies.get(name) for comparison in comparisons.values())) for name in names]
    return "\n".join([*lines, _line("all", (comparison.total for comparison in comparisons.values()))])


def _line(name: str, tallies: Iterable[Tally | None]) -> str:
    return f"{name:{_NAME_WIDTH}}{''.join(_cells(tally) for tally in tallies)}"


def _cells(tally: Tally | None) -> str:
    if tally is None:
        return f"{'-':>9}{'-':>7}{'-':>10}{'-':>8}"
    # Cut off and not rounded, so that 1.000 means all.
    precision, recall = (int(share * 1000) / 1000 for share in (tally.precision, tally.recall))
    return f"{tally.planted:9,}{tally.found:7,}{precision:10.3f}{recall:8.3f}"
