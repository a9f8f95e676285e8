"""The rules of docs/compare.md for two sides with one topic of one partition, in plain Python.

The right side has come to its end, and nothing has been removed from either side.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Row:
    """A record. at: its position on its side. event_id, key: None for a record without one."""

    at: int
    event_id: str | None
    key: int | None
    content: int


def findings_by_id(left: Sequence[Row], right: Sequence[Row], *, is_one_to_many: bool = False) -> Counter[str]:
    """Return the number of records of each kind of finding."""
    lefts, rights = _by_id(left), _by_id(right)
    both = lefts.keys() & rights.keys()
    found = Counter(no_event_id=sum(row.event_id is None for row in (*left, *right)))
    for event_id in lefts.keys() | rights.keys():
        ours, theirs = lefts.get(event_id, []), rights.get(event_id, [])
        if not theirs:
            found["lost"] += len(ours)
        elif not ours:
            found["extra"] += len(theirs)
        else:
            found["duplicated"] += _copies(ours, theirs, is_one_to_many)
            is_equal = bool({row.content for row in ours} & {row.content for row in theirs})
            found["changed"] += not is_equal and not is_one_to_many
            found["reordered"] += any(
                lefts[other][0].key == ours[0].key is not None
                and lefts[other][0].at > ours[0].at
                and rights[other][0].at < theirs[0].at
                for other in both
            )
    return +found


def findings_by_position(left: Sequence[Row], right: Sequence[Row]) -> Counter[str]:
    """Return the same for records that are matched by their position among those of their key."""
    named: tuple[list[Row], list[Row]] = ([], [])
    for key in {row.key for row in (*left, *right)}:
        sides = [[row for row in side if row.key == key] for side in (left, right)]
        for rows, renamed in zip(_with_ids(sides[0], sides[1], key), named, strict=True):
            renamed += rows
    return findings_by_id(*(sorted(rows, key=lambda row: row.at) for rows in named))


def _by_id(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.event_id is not None:
            found[row.event_id].append(row)
    return dict(found)


def _copies(ours: list[Row], theirs: list[Row], is_one_to_many: bool) -> int:
    if is_one_to_many:
        repeated = len(theirs) - len({row.content for row in theirs})
        return repeated if len(ours) == 1 else 0
    return max(len(theirs) - len(ours), 0)


def _with_ids(left: list[Row], right: list[Row], key: int | None) -> tuple[list[Row], list[Row]]:
    """Return the records of a key with ids: equal contents first, then the place between those."""
    counts = [Counter(row.content for row in side) for side in (left, right)]
    return (
        [replace(row, event_id=event_id) for row, event_id in zip(left, _ids(left, counts, key, 0), strict=True)],
        [replace(row, event_id=event_id) for row, event_id in zip(right, _ids(right, counts, key, 1), strict=True)],
    )


def _ids(rows: list[Row], counts: list[Counter[int]], key: int | None, side: int) -> list[str]:
    seen: Counter[int] = Counter()
    unmatched: Counter[int] = Counter()
    anchors = 0
    ids: list[str] = []
    for row in rows:
        seen[row.content] += 1
        number, (lefts, rights) = seen[row.content], (counts[0][row.content], counts[1][row.content])
        if number <= min(lefts, rights):
            anchors += 1
            ids.append(f"{key}={row.content}/{number}")
        elif side == 1 and lefts:
            # A further copy of the last one on the left side.
            ids.append(f"{key}={row.content}/{lefts}")
        elif key is None:
            ids.append(f"{key}={row.content}/{number}" if side == 0 else f"{key}={row.content}/{min(number, 1)}")
        else:
            unmatched[anchors] += 1
            ids.append(f"{key}#{anchors}/{unmatched[anchors]}")
    return ids
