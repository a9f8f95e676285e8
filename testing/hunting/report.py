"""The result of a hunt for the terminal: a table of faults and APIs, and the findings."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from .coverage import coverage_of, errors_left_out
from .finding import Finding, Hunted, Tried
from .judgement import Outcome
from .progress import Confirming, Learning, Stage

# Of the lines that the program printed. The files of the finding have the others.
_OUTPUT_LINES_MAX = 10
# Of the trials that failed, and not by the program.
FAILED_MAX = 3
_WORST_FIRST = (
    *(Outcome.BROKEN, Outcome.HUNG, Outcome.UNFINISHED, Outcome.ERROR, Outcome.WAITING, Outcome.SLOW),
    *(Outcome.NOT_JUDGED, Outcome.HELD, Outcome.NOT_MET),
)


def report_text(result: Hunted, folders: Sequence[str] = ()) -> str:
    """Return the report. folders: where the files of each finding are; none if there are no files."""
    lines = [_table_text(table_rows(result.tried)), ""] if result.tried else []
    for number, (finding, folder) in enumerate(zip_longest(result.findings, folders), start=1):
        lines += [*finding_lines(number, finding, [folder] if folder else []), ""]
    end = [] if result.findings else [no_finding_text(result)]
    return "\n".join([*lines, *remarks(result), *left_out_lines(result), summary_line(result), *end])


def failure_text(result: Hunted, folders: Sequence[str]) -> str:
    """Return why a test that is a hunt fails: what was found first, and the table last. folders: as of report_text."""
    more = len(result.findings) - 1
    others = f", and {more} more finding{'' if more == 1 else 's'}" if more else ""
    # pytest repeats the first line at the end of its output.
    lines = [f"fauxka_hunt: {result.findings[0].sentence}{others}", ""]
    for number, (finding, folder) in enumerate(zip(result.findings, folders, strict=True), start=1):
        rules = [json.dumps(rule) for rule in finding.rules]
        extra = [folder, "rules:", *_indented(rules), "requests:", *_indented(finding.judgement.evidence.requests)]
        lines += [*finding_lines(number, finding, extra), ""]
    return "\n".join([*lines, _table_text(table_rows(result.tried)), "", *remarks(result), summary_line(result)])


def finding_lines(number: int, finding: Finding, extra: Sequence[str]) -> list[str]:
    """Return the title of a finding, its details, other lines, and the end of what the program printed."""
    output = finding.judgement.evidence.output.splitlines()
    left_out = ["..."] if len(output) > _OUTPUT_LINES_MAX else []
    printed = ["output:", *_indented([*left_out, *output[-_OUTPUT_LINES_MAX:]])] if output else []
    return [f"{number}. {finding.trial}", *_indented([*details_of(finding), *extra, *printed])]


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"   {line}" for line in lines]


def no_finding_text(result: Hunted) -> str:
    """Return what a hunt without a finding means, and what it does not mean."""
    judged = [each for each in result.tried if each.judgement.outcome is not Outcome.NOT_JUDGED and each.met]
    if not judged:
        return "No finding, and no statement about the program: it met no fault in a run that was judged."
    faults = {fault.name for each in judged for fault, _ in each.met}
    apis = dict.fromkeys(target.api for each in judged for _, target in each.met)
    kinds = "1 kind" if len(faults) == 1 else f"{len(faults)} kinds"
    return (
        f"No finding: the program met a fault in {_trials_text(len(judged))}, with {kinds} of faults at "
        f"{', '.join(apis)}, and broke its promise in none. This holds for these requests and their timing. It is no "
        "proof for other inputs, and for faults that were not tried or not met."
    )


def remarks(result: Hunted) -> list[str]:
    """Return what a reader must know who believes that nothing was found: what was never met, and what failed."""
    failed = [each for each in result.tried if each.judgement.outcome is Outcome.NOT_JUDGED]
    ended = [each for each in result.tried if each.judgement.outcome not in (Outcome.NOT_JUDGED, Outcome.UNFINISHED)]
    unfinished = [each for each in result.tried if each.judgement.outcome is Outcome.UNFINISHED]
    met = {target.api for each in result.tried for _, target in each.met}
    apis = dict.fromkeys(target.api for each in ended for _, target in each.trial.faults)
    return [
        *(
            f"no fault at {api} was met: the program does not send it as in the run without faults"
            for api in apis
            if api not in met
        ),
        *(f"not judged: {each.trial}: {'; '.join(each.judgement.reasons)}" for each in failed[:FAILED_MAX]),
        *(f"not ended: {each.trial}: {each.judgement.reasons[0]}" for each in unfinished[:FAILED_MAX]),
        *(["a greater budget, or a timeout, tells whether the program hangs"] if unfinished else []),
    ]


def left_out_lines(result: Hunted) -> list[str]:
    """Return the errors of Kafka that were not tried, a line for each reason."""
    names: dict[str, set[str]] = defaultdict(set)
    for reasons in errors_left_out(result.faultless.requests, result.tried).values():
        for error, reason in reasons.items():
            names[reason].add(error)
    return [f"errors not tried, because {reason}: {', '.join(sorted(names[reason]))}" for reason in sorted(names)]


def progress_text(progress: Stage) -> str:
    """Return how far a hunt is, for one line."""
    if isinstance(progress, Learning):
        return "running the program without faults"
    if isinstance(progress, Confirming):
        return f"repeating {progress.trial}"
    waiting = f", {progress.waiting} waiting" if progress.waiting else ""
    rate = 60 * progress.done / max(progress.seconds, 1.0)
    return (
        f"{progress.done} of {progress.planned} trials, {progress.found} found{waiting}, {rate:.0f} a minute, "
        f"{progress.seconds_left:.0f} s left"
    )


def _trials_text(count: int) -> str:
    return "1 trial" if count == 1 else f"{count} trials"


def table_rows(tried: Sequence[Tried]) -> list[list[str]]:
    """Return a row for each fault and a column for each API: the worst outcome, and how many requests had it.

    The first row and the first column have the names. Without trials there is no row.
    """
    if not tried:
        return []
    cells: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for each in tried:
        # Of a pair, one fault may change what the program sends, so that the other is not met.
        outcome, hits = each.judgement.outcome, each.judgement.hits or [True] * len(each.trial.faults)
        for (fault, target), is_hit in zip(each.trial.faults, hits, strict=True):
            cells[fault.name, target.api].append(outcome if is_hit else Outcome.NOT_MET)
    faults = list(dict.fromkeys(fault for fault, _ in cells))
    apis = list(dict.fromkeys(api for _, api in cells))
    return [["", *apis], *([fault, *(_cell(cells.get((fault, api), [])) for api in apis)] for fault in faults)]


def _table_text(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def summary_line(result: Hunted) -> str:
    """Return the last line: how much was tried, and what was found."""
    coverage = coverage_of({entry.api for entry in result.faultless.requests}, result.tried)
    outcomes = [each.judgement.outcome for each in result.tried]
    counts = [f"{outcomes.count(outcome)} {outcome.value}" for outcome in _WORST_FIRST if outcome in outcomes]
    left = result.planned - len(result.tried)
    left_text = f", {left} not tried" if left else ""
    return (
        f"{_trials_text(len(result.tried))} in {result.seconds:.0f} s{left_text}: {', '.join(counts) or 'none'}; "
        f"{coverage.tried} of {coverage.possible} combinations of API, point and action, {coverage.equivalent} more "
        "are equivalent"
    )


def _cell(outcomes: Sequence[Outcome]) -> str:
    for outcome in _WORST_FIRST:
        count = outcomes.count(outcome)
        if count:
            return outcome.value if count == len(outcomes) else f"{outcome.value} {count}/{len(outcomes)}"
    return ""


def details_of(finding: Finding) -> list[str]:
    """Return the reasons of a finding, the other faults that show it, and how often it was seen again."""
    return [*finding.judgement.reasons, *_others_text(finding), _confirmed_text(finding)]


def _others_text(finding: Finding) -> Iterator[str]:
    """Yield a line with the faults of the other trials at each API."""
    faults: dict[str, dict[str, None]] = defaultdict(dict)
    for other in finding.others:
        apis = " and ".join(dict.fromkeys(target.api for _, target in other.faults))
        faults[apis][" with ".join(fault.name for fault, _ in other.faults)] = None
    for apis, names in faults.items():
        yield f"also at {apis}: {', '.join(names)}"


def _confirmed_text(finding: Finding) -> str:
    if not finding.runs:
        return "not repeated"
    if finding.is_seen_once:
        return f"seen once, and not in {finding.runs} more runs"
    # What hangs had more time once, see patience.
    seconds = f" of {finding.timeout_seconds:.0f} s" if finding.judgement.outcome is Outcome.HUNG else ""
    timing = "" if finding.is_certain else ": it depends on timing"
    return f"in {finding.confirmed} of {finding.runs} more runs{seconds}{timing}"
