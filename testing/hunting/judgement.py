"""Whether a run with faults kept the promise of the program.

- A program that ends with an error has told its user, who repeats it or not: events may be missing then, unless it has
  committed their offsets, and so would not write them when it is repeated.
- It has if it has committed all offsets that it commits without faults; and, where it writes one event for each record
  that it reads, if more events are missing than offsets.
- Events that are there twice, or out of order, are there whatever the program said.
- The order and the state of each key are judged by key_judgement.py.
- What was delivered to a group, and what it committed, is judged by group_judgement.py, and explains other reasons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

from .evidence import Evidence, evidence_of
from .group_judgement import broken_by_groups, explanations
from .key_judgement import late_events, name_of, old_events, without_key, wrong_states
from .program import Ending
from .promise import Promise
from .run import Content, Run

# The events that a reason names.
NAMED_MAX = 3
_COMMITTED_TEXT = "its groups have committed the offsets, so its next start does not write what is missing"
# Of the events that are compared with those of other trials.
_MARKED_MAX = 100
_MISSING_KINDS = {"missing", "state"}


class Outcome(Enum):
    """The result of a run, best first.

    NOT_MET: no request was hit, because the program sent others. NOT_JUDGED: the run or its preparation failed, not the
    program. SLOW: it ended after the timeout of other runs. WAITING: it did not end while a fault stayed.
    UNFINISHED: it had not ended when the budget was spent.
    """

    NOT_MET = "not met"
    NOT_JUDGED = "not judged"
    HELD = "held"
    SLOW = "slow"
    WAITING = "waiting"
    UNFINISHED = "not ended"
    ERROR = "error reported"
    HUNG = "hung"
    BROKEN = "broken"


class Damage(NamedTuple):
    """What is wrong with a result: its kind, such as "missing", and in words.

    marks: what other damage of the kind has in common with it, such as the events; the words without any.
    """

    kind: str
    words: str
    marks: Sequence[str]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The outcome, and the reasons for it in words.

    hits: whether each fault of the trial was met. damage: what is wrong with the result of a program that is broken.
    evidence: of a finding.
    """

    outcome: Outcome
    reasons: Sequence[str] = ()
    damage: Sequence[Damage] = ()
    hits: Sequence[bool] = ()
    evidence: Evidence = field(default_factory=Evidence, compare=False, repr=False)

    @property
    def is_finding(self) -> bool:
        """Whether the program did not do what it promises."""
        return self.outcome in (Outcome.HUNG, Outcome.BROKEN)

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of the damage, such as "missing"."""
        return frozenset(each.kind for each in self.damage)


def judge(run: Run, faultless: Run, promise: Promise) -> Judgement:
    """Compare a run with the run without faults."""
    judgement = _judged(run, faultless, promise)
    evidence = evidence_of(run) if judgement.is_finding else Evidence()
    return replace(judgement, hits=[count > 0 for count in run.hits], evidence=evidence)


def _judged(run: Run, faultless: Run, promise: Promise) -> Judgement:
    if run.failed_change is not None:
        return Judgement(Outcome.NOT_JUDGED, (run.failed_change,))
    if run.hits and not any(run.hits):
        return Judgement(Outcome.NOT_MET, ("no request was hit",))
    ending = run.ending
    is_done = ending.exit_code == 0 or _is_committed(run, faultless)
    found = [
        damage
        for topic, content in run.topics.items()
        for damage in _broken(topic, content, faultless.topics[topic], promise, is_done=is_done)
    ]
    found += [Damage(kind, words, (words,)) for kind, words in broken_by_groups(run, faultless, promise)]
    if run.failed_check is not None:
        found.append(Damage("check", f"check: {run.failed_check}", (run.failed_check,)))
    explained = explanations(run, faultless)
    if found:
        is_missing = any(each.kind in _MISSING_KINDS for each in found)
        committed = [_COMMITTED_TEXT] if ending.exit_code != 0 and is_missing else []
        # A program that says that its result is wrong has ended by that.
        ended = [] if ending.failed_check else [_ending_text(ending)]
        reasons = dict.fromkeys([*(each.words for each in found), *ended, *committed, *explained])
        return Judgement(Outcome.BROKEN, list(reasons), found)
    if ending.is_hung and not run.is_fault_over:
        return Judgement(Outcome.WAITING)
    if ending.is_hung:
        return Judgement(Outcome.HUNG, (_ending_text(ending), *explained))
    if ending.exit_code != 0:
        return Judgement(Outcome.ERROR, (_ending_text(ending),))
    return Judgement(Outcome.HELD)


def differences(first: Run, second: Run) -> list[str]:
    """Return how two runs without faults differ, in words."""
    found: list[str] = []
    for topic, content in first.topics.items():
        other = second.topics[topic]
        found += _missing(topic, content.events - other.events) + _missing(topic, other.events - content.events)
    return found


def with_order_of_both(first: Run, second: Run) -> Run:
    """Return the first run, with the order of events only where the second has the same."""
    topics = {topic: _with_order(content, second.topics[topic]) for topic, content in first.topics.items()}
    return replace(first, topics=topics)


def _with_order(content: Content, other: Content) -> Content:
    same = {row: events for row, events in content.order.items() if other.order.get(row) == events}
    return replace(content, order=same)


def _is_committed(run: Run, faultless: Run) -> bool:
    """Return whether the program has committed offsets of records whose events are missing."""
    wanted = faultless.committed
    if wanted and all(run.committed.get(part, -1) >= offset for part, offset in wanted.items()):
        return True
    events = sum(content.events.total() for content in faultless.topics.values())
    missing = sum((faultless.topics[topic].events - content.events).total() for topic, content in run.topics.items())
    offsets, done = _offsets_of(wanted), _offsets_of(run.committed)
    return any(count == events and count - done[group] < missing for group, count in offsets.items())


def _offsets_of(committed: Mapping[tuple[str, str, int], int]) -> Counter[str]:
    """Return the offsets of each group, added up."""
    found: Counter[str] = Counter()
    for (group, _, _), offset in committed.items():
        found[group] += offset
    return found


def _missing(topic: str, events: Counter[bytes]) -> list[str]:
    return [f"{topic}: {_named(events)} in one run only"] if events else []


def _broken(topic: str, content: Content, faultless: Content, promise: Promise, *, is_done: bool) -> Iterator[Damage]:
    """Yield what of the topic breaks the promise."""
    missing, surplus = faultless.events - content.events, content.events - faultless.events
    if promise is Promise.EFFECTIVELY_ONCE:
        missing = without_key(missing, faultless.order)
        states = [f"{topic}: {text}" for text in wrong_states(content.order, faultless.order, is_done=is_done)]
        yield from (Damage("state", words, (words,)) for words in states)
    may_miss = promise is Promise.AT_MOST_ONCE or not is_done
    if missing and not may_miss:
        lost = f"; acknowledged batches that were lost: {content.lost}" if content.lost else ""
        yield _damage(topic, "missing", missing, f"missing{lost}")
    if surplus and not promise.allows_doubles:
        yield _damage(topic, "too many", surplus, "too many")
    if promise in (Promise.EXACTLY_ONCE, Promise.AT_LEAST_ONCE_IN_ORDER):
        yield from _reordered(topic, content, faultless, promise, is_done=is_done)


def _reordered(
    topic: str, content: Content, faultless: Content, promise: Promise, *, is_done: bool
) -> Iterator[Damage]:
    """Yield how the order of the topic breaks the promise."""
    late = late_events(content.order, faultless.order)
    if late:
        yield _damage(topic, "reordered", late, "out of order")
    elif promise is Promise.EXACTLY_ONCE:
        if content.reordered > faultless.reordered:
            yield Damage("reordered", f"{topic}: {content.reordered} batches out of order", (topic,))
    elif is_done and (old := old_events(content.order, faultless.order)):
        yield _damage(topic, "reordered", old, "repeated behind newer events of the same key")


def _damage(topic: str, kind: str, events: Counter[bytes], words: str) -> Damage:
    marks = [f"{topic}: {event!r}" for event in sorted(events)[:_MARKED_MAX]]
    return Damage(kind, f"{topic}: {_named(events)} {words}", marks)


def _named(events: Counter[bytes]) -> str:
    """Return the number of events, with the first of them."""
    count = events.total()
    names = [name_of(event) for event in sorted(events)[:NAMED_MAX]]
    more = ", ..." if len(events) > NAMED_MAX else ""
    return f"{count} {'event' if count == 1 else 'events'} ({', '.join(names)}{more})"


def _ending_text(ending: Ending) -> str:
    return f"the program {ending}"
