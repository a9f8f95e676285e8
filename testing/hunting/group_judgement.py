"""Whether a consumer group got and committed what the program promises, by the verdict on the group.

- A record that the group was not sent is skipped. After a program that ended with an error, its next start may read it,
  unless a later offset is committed.
- A commit of offsets that the group was not sent skips them, too.
- A commit that moves the group back makes its next start process records again. It is no finding if a fault made it
  late, or if the member was sent the records again before, as after a reset.
- What the broker cannot know is no finding. A record that was sent twice may have been processed once: a consumer gets
  records in advance, and may close without them. A topic of results, a check, or the reports of the program show what
  was processed.
- By reports, records are processed twice, or they are not processed, though the group or the program is beyond them. A
  program that has ended well must have processed as many as without faults.
- What the program does without faults, and what retention or an election has deleted, is no finding.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from ...faults.consumption.facts import Cause, Kind
from ...faults.consumption.group_verdict import GroupFinding, GroupVerdict, describe_finding
from .promise import Promise

if TYPE_CHECKING:
    from .run import Run

_SKIPPED = (Kind.NEVER_DELIVERED.value, Kind.COMMIT_BEYOND_DELIVERY.value)
_UNPROCESSED = (Kind.COMMITTED_UNPROCESSED.value, Kind.NEVER_PROCESSED.value)
_AGAIN = (Kind.DELIVERED_TWICE.value, Kind.PROCESSED_TWICE.value)
_OF_THE_LOG = (Cause.DELETED.value, Cause.TRUNCATED.value)
# The sentences of one group that explain what a fault did.
_SENTENCES_MAX = 3


def broken_by_groups(run: Run, faultless: Run, promise: Promise) -> Iterator[tuple[str, str]]:
    """Yield the kind and the words of each reason for which a judged group breaks the promise."""
    for group in run.judged_groups:
        verdict = run.groups.get(group)
        if verdict is None:
            continue
        findings = _new_findings(verdict, faultless)
        for finding in findings:
            kind = _kind_of(finding, verdict, run, promise)
            if kind is not None:
                yield kind, _sentence(group, finding)
        if run.ending.exit_code == 0 and promise is not Promise.AT_MOST_ONCE:
            passed = [(each.topic, each.partition) for each in findings if each.kind in (*_SKIPPED, *_UNPROCESSED)]
            for sentence in _fewer_processed(verdict, faultless, passed):
                yield "not processed", sentence


def _fewer_processed(verdict: GroupVerdict, faultless: Run, passed: Collection[tuple[str, int]]) -> Iterator[str]:
    """Yield a sentence for each partition of which less was reported than without faults, without those in passed."""
    counts = {(each.topic, each.partition): each.processed for each in verdict.partitions}
    before = faultless.groups.get(verdict.group)
    for each in () if before is None else before.partitions:
        place = (each.topic, each.partition)
        missing = each.processed - counts.get(place, 0)
        if each.processed_from == "reports" and missing > 0 and place not in passed:
            yield f"group {verdict.group}: {each.topic}-{each.partition}: {missing} of {each.processed} not processed"


def explanations(run: Run, faultless: Run) -> list[str]:
    """Return what happened to the deliveries and commits of all groups, and does not happen without faults."""
    found: list[str] = []
    for group, verdict in run.groups.items():
        sentences = [_sentence(group, each) for each in _new_findings(verdict, faultless)]
        left_out = len(sentences) - _SENTENCES_MAX
        found += sentences[:_SENTENCES_MAX]
        found += [f"group {group}: and {left_out} more findings"] if left_out > 0 else []
    return found


def _kind_of(finding: GroupFinding, verdict: GroupVerdict, run: Run, promise: Promise) -> str | None:
    """Return how a finding breaks the promise; None if it does not."""
    if finding.kind in _SKIPPED and promise is not Promise.AT_MOST_ONCE:
        is_by_program = finding.cause not in _OF_THE_LOG
        return "skipped" if is_by_program and (run.ending.exit_code == 0 or _is_passed(finding, verdict)) else None
    if finding.kind in _UNPROCESSED and promise is not Promise.AT_MOST_ONCE:
        return "not processed" if run.ending.exit_code == 0 or _is_passed(finding, verdict) else None
    if finding.kind == Kind.PROCESSED_TWICE.value and not promise.allows_doubles:
        return "processed twice"
    if finding.kind == Kind.COMMIT_MOVED_BACK.value and not promise.allows_doubles:
        is_excused = _is_late(finding, run) or _is_sent_again(finding, verdict)
        return "moved back" if finding.cause == Cause.MEMBER.value and not is_excused else None
    return None


def _is_passed(finding: GroupFinding, verdict: GroupVerdict) -> bool:
    """Whether the group has committed an offset behind those of the finding."""
    return any(
        each.committed is not None and each.committed > finding.offsets[1]
        for each in verdict.partitions
        if (each.topic, each.partition) == (finding.topic, finding.partition)
    )


def _is_late(finding: GroupFinding, run: Run) -> bool:
    """Whether a fault has held the commits of the finding."""
    return any(entry.injected_ms > 0 for entry in run.requests if entry.id in finding.request_ids)


def _is_sent_again(finding: GroupFinding, verdict: GroupVerdict) -> bool:
    """Whether the member of a commit got the offsets of the finding again, for another reason than the commit."""
    return any(
        each.kind in _AGAIN
        and each.cause != Cause.MOVED_BACK.value
        and (each.topic, each.partition, each.member) == (finding.topic, finding.partition, finding.member)
        and each.offsets[0] <= finding.offsets[1]
        and each.offsets[1] >= finding.offsets[0]
        for each in verdict.findings
    )


def _new_findings(verdict: GroupVerdict, faultless: Run) -> list[GroupFinding]:
    """Return the findings that the group does not have without faults."""
    before = faultless.groups.get(verdict.group)
    known = [] if before is None else [_place_of(each) for each in before.findings]
    return [each for each in verdict.findings if _place_of(each) not in known]


def _place_of(finding: GroupFinding) -> object:
    return finding.kind, finding.cause, finding.topic, finding.partition


def _sentence(group: str, finding: GroupFinding) -> str:
    return f"group {group}: {describe_finding(finding)}"
