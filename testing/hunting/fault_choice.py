"""Which faults are tried: those of Kafka, of other origins on request, and those that are named."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ...faults.hunted_faults import REQUESTED_ORIGINS, Origin
from ...protocol.similar_names import suggestion
from .changes import CHANGES
from .errors import BadHuntOption
from .plan import RANKS, Fault, faults_of

_NODES = max(change.nodes for change in CHANGES.values())


@dataclass(frozen=True, slots=True)
class FaultChoice:
    """The faults that are tried.

    origins: theirs. only: their names, whatever their origin; empty for all. skip: the names of others.
    """

    origins: Collection[Origin] = (Origin.KAFKA,)
    only: Collection[str] = ()
    skip: Collection[str] = ()

    def has(self, fault: Fault) -> bool:
        """Return whether the fault is tried."""
        is_chosen = fault.name in self.only if self.only else fault.origin in self.origins
        return is_chosen and fault.name not in self.skip


def choice_of(include: Sequence[str], only: Sequence[str], skip: Sequence[str], prefix: str = "--") -> FaultChoice:
    """Return the choice. prefix: of the options in errors. Raises BadHuntOption for an unknown origin or fault."""
    origins = {origin.value: origin for origin in REQUESTED_ORIGINS}
    for name in include:
        if name not in origins:
            raise BadHuntOption(f"{prefix}include: {name!r} is no origin of faults; allowed: {', '.join(origins)}")
    known = {fault.name for api in RANKS for fault in faults_of(api, set(RANKS), _NODES)}
    for option, names in (("only", only), ("skip", skip)):
        for name in names:
            if name not in known:
                allowed = f"a name of the table of a report{suggestion(name, known)}"
                raise BadHuntOption(f"{prefix}{option}: {name!r} is no fault; allowed: {allowed}")
    return FaultChoice((Origin.KAFKA, *(origins[name] for name in include)), only, skip)
