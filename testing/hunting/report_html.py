"""The result of a hunt as an HTML file without anything from elsewhere, with the timeline of each finding.

All text is escaped, because names of topics and the output of programs can be anything.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from .judgement import Outcome
from .report import details_of, left_out_lines, remarks, summary_line, table_rows
from .reproduction import CALLS_FILE, RUN_FILE, TEST_FILE, json_of
from .result import Finding, Result

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


def report_html(result: Result, command: str, folders: Sequence[Path]) -> str:
    """Return the page, which is beside the folders. command: what was hunted. folders: of the findings.

    Raises OSError if a timeline that is there cannot be read.
    """
    findings = [
        _finding(number, finding, folder)
        for number, (finding, folder) in enumerate(zip(result.findings, folders, strict=True), start=1)
    ]
    count = len(findings)
    found = "nothing found" if not count else "1 finding" if count == 1 else f"{count} findings"
    parts = [
        f"<h1>fauxka hunt: {found}</h1><p><code>{escape(command)}</code></p><p>{escape(summary_line(result))}</p>",
        *(f"<p>{escape(remark)}</p>" for remark in remarks(result)),
        *findings,
        f"<h2>Each fault at each API</h2>{_table(table_rows(result.tried))}",
        *(f'<p class="quiet">{escape(line)}</p>' for line in left_out_lines(result)),
    ]
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>fauxka hunt: {found}</title><style>{_STYLE}</style>"
    )
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'


def _finding(number: int, finding: Finding, folder: Path) -> str:
    details = "".join(f"<li>{escape(detail)}</li>" for detail in details_of(finding))
    rules = json.dumps([json_of(rule) for rule in finding.trial.rules], indent=1)
    links = ", ".join(
        f'<a href="{escape(folder.name)}/{name}">{words}</a>'
        for name, words in ((TEST_FILE.format(folder.name), "test"), (CALLS_FILE, "curl"))
    )
    outcome = finding.judgement.outcome.value
    return (
        f'<h2>{number}. <span class="{_class_of(outcome)}">{outcome}</span>: {escape(str(finding.trial))}</h2>'
        f"<ul>{details}</ul><p>{links}</p>"
        f"<details><summary>The rules</summary><pre>{escape(rules)}</pre></details>{_timeline(folder / RUN_FILE)}"
    )


def _timeline(file: Path) -> str:
    """Return the page of a run in a frame; nothing if the run was not repeated."""
    if not file.exists():
        return ""
    page = escape(file.read_text("utf-8"))
    return f'<details><summary>The timeline</summary><iframe title="Timeline" srcdoc="{page}"></iframe></details>'


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
