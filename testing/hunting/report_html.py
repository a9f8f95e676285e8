"""The result of a hunt as an HTML file without anything from elsewhere, with the timeline of each finding.

All text is escaped, because names of topics and the output of programs can be anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from .finding import Finding, Hunted
from .judgement import Judgement, Outcome
from .report import details_of, left_out_lines, remarks, summary_line, table_rows
from .reproduction import CALLS_FILE, RULES_FILE, TEST_FILE

_STYLE = """
:root{color-scheme:light dark;--line:#8886;--quiet:#777;--bad:#b3261e;--odd:#8a5a00;--good:#1b6e3c}
@media(prefers-color-scheme:dark){:root{--quiet:#999;--bad:#ff8a80;--odd:#f0b450;--good:#7fd29a}}
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}code,pre{font-size:.9em}pre{overflow-x:auto}
.wide{overflow-x:auto}table{border-collapse:collapse}th,td{text-align:left;padding:.2rem .7rem .2rem 0;
border-bottom:1px solid var(--line);white-space:nowrap}.broken,.hung{color:var(--bad);font-weight:600}
iframe{border:1px solid var(--line);height:80vh;width:100%}
.error,.slow,.waiting{color:var(--odd)}.held{color:var(--good)}.not,p.quiet{color:var(--quiet)}
"""


def report_html(result: Hunted, folders: Sequence[Path]) -> str:
    """Return the page, which is beside the folders of the findings."""
    count = len(result.findings)
    found = "nothing found" if not count else "1 finding" if count == 1 else f"{count} findings"
    findings = (
        _finding(number, finding, folder)
        for number, (finding, folder) in enumerate(zip(result.findings, folders, strict=True), start=1)
    )
    parts = [
        f"<p><code>{escape(str(result.program))}</code></p><p>{escape(summary_line(result))}</p>",
        *(f"<p>{escape(remark)}</p>" for remark in remarks(result)),
        *findings,
        f"<h2>Each fault at each API</h2>{_table(table_rows(result.tried))}",
        *(f'<p class="quiet">{escape(line)}</p>' for line in left_out_lines(result)),
    ]
    return _page(f"fauxka hunt: {found}", parts)


def replay_html(program: object, judgement: Judgement, rules: Sequence[Mapping[str, object]], timeline: str) -> str:
    """Return the page of one run with the rules of a finding, whatever its outcome."""
    names = "; ".join(str(rule.get("name", "a rule")) for rule in rules)
    sections = [_heading(judgement, names), _list(judgement.reasons), *_shown(judgement, rules, timeline)]
    return _page("fauxka hunt --replay", [f"<p><code>{escape(str(program))}</code></p>", *sections])


def _page(title: str, parts: Sequence[str]) -> str:
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style>"
    )
    body = f"<h1>{title}</h1>{''.join(parts)}"
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def _finding(number: int, finding: Finding, folder: Path) -> str:
    files = (("rules", RULES_FILE), ("test", TEST_FILE.format(folder.name)), ("curl", CALLS_FILE))
    links = [f'<a href="{escape(folder.name)}/{name}">{words}</a>' for words, name in files if (folder / name).exists()]
    sections = [
        _heading(finding.judgement, str(finding.trial), f"{number}. "),
        _list(details_of(finding)),
        f"<p>{', '.join(links)}</p>" if links else "",
        *_shown(finding.judgement, finding.rules, finding.timeline),
    ]
    return "".join(sections)


def _heading(judgement: Judgement, words: str, number: str = "") -> str:
    outcome = judgement.outcome.value
    return f'<h2>{number}<span class="{_class_of(outcome)}">{outcome}</span>: {escape(words)}</h2>'


def _list(lines: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>" if lines else ""


def _shown(judgement: Judgement, rules: Sequence[Mapping[str, object]], timeline: str) -> Iterator[str]:
    """Yield what shows a run: what the program printed, the rules, and the timeline if there is one. All are open."""
    if judgement.evidence.output:
        yield _opened("The output of the program", f"<pre>{escape(judgement.evidence.output)}</pre>")
    yield _opened("The rules", f"<pre>{escape(chr(10).join(json.dumps(rule) for rule in rules))}</pre>")
    if timeline:
        yield _opened("The timeline", f'<iframe title="Timeline" srcdoc="{escape(timeline)}"></iframe>')


def _opened(summary: str, content: str) -> str:
    return f"<details open><summary>{summary}</summary>{content}</details>"


def _table(rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return '<p class="quiet">No trial was done.</p>'
    heading = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
    body = "".join(f"<tr><th>{escape(fault)}</th>{''.join(map(_cell, cells))}</tr>" for fault, *cells in rows[1:])
    return f'<div class="wide"><table><tr>{heading}</tr>{body}</table></div>'


def _cell(text: str) -> str:
    return f'<td class="{_class_of(text)}">{escape(text)}</td>'


def _class_of(cell: str) -> str:
    """Return the class of an outcome: its first word."""
    return next((outcome.value.split()[0] for outcome in Outcome if cell.startswith(outcome.value)), "")
