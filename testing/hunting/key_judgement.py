"""Whether the events of each partition and key are in order, and end in the right state.

- Only the order that is the same whenever there is no fault is compared: `order` of the run without faults.
- An event that is there twice without faults has no place in the order.
- Of an event that is there again, the first one tells whether it was late. The last one tells whether a repetition has
  ended in the middle: then a reader of the topic is left with an old event as the newest one.
- The state of a key is its last event. After a program that has failed it may be any of its events without faults.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

NAME_CHARACTERS_MAX = 40

# The events of each partition and key, as they are in the log.
Order = Mapping[tuple[int, bytes | None], Sequence[bytes]]


def late_events(order: Order, faultless: Order) -> Counter[bytes]:
    """Return the events behind one of their partition and key that follows them in the run without faults."""
    late: Counter[bytes] = Counter()
    for row, wanted in faultless.items():
        late += _behind(list(dict.fromkeys(order.get(row, ()))), wanted)
    return late


def old_events(order: Order, faultless: Order) -> Counter[bytes]:
    """Return the events that are repeated behind one that follows them, which is not repeated."""
    old: Counter[bytes] = Counter()
    for row, wanted in faultless.items():
        old += _behind(list(dict.fromkeys(reversed(order.get(row, ()))))[::-1], wanted)
    return old


def wrong_states(order: Order, faultless: Order, *, is_done: bool) -> Iterator[str]:
    """Yield for each key that does not end in the right state what it ends in.

    is_done: whether the program has ended well.
    """
    for (partition, key), wanted in faultless.items():
        if key is None or not wanted:
            continue
        got = order.get((partition, key)) or _elsewhere(order, key)
        if not got:
            if is_done:
                yield f"key {name_of(key)} has no event"
        elif is_done and got[-1] != wanted[-1]:
            yield f"the last event of key {name_of(key)} is {name_of(got[-1])}, not {name_of(wanted[-1])}"
        elif got[-1] not in wanted:
            yield f"the last event of key {name_of(key)} is {name_of(got[-1])}, which it never has without faults"


def without_key(events: Counter[bytes], faultless: Order) -> Counter[bytes]:
    """Return the events that belong to no key."""
    keyed = {event for (_, key), row in faultless.items() if key is not None for event in row}
    return Counter({event: count for event, count in events.items() if event not in keyed})


def name_of(event: bytes) -> str:
    """Return an event, or a key, as a reason names it."""
    return ascii(event.decode(errors="backslashreplace"))[:NAME_CHARACTERS_MAX]


def _behind(events: Sequence[bytes], wanted: Sequence[bytes]) -> Counter[bytes]:
    counts = Counter(wanted)
    ranks = {event: rank for rank, event in enumerate(wanted) if counts[event] == 1}
    behind: Counter[bytes] = Counter()
    last = -1
    for event in events:
        rank = ranks.get(event, last)
        behind[event] += rank < last
        last = max(last, rank)
    return +behind


def _elsewhere(order: Order, key: bytes) -> Sequence[bytes]:
    """Return the events of a key in another partition: a topic that was created again may have fewer."""
    return next((events for (_, other), events in order.items() if other == key), ())
