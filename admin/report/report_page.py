"""A report as one HTML file: styles, script and data are in it, and it loads nothing.

The data is JSON in a script element that a browser does not run. `<` is escaped there, so no text of the run can end
the element. The content security policy allows the script and the style of this page by their hashes, and nothing else.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from html import escape

import msgspec

from ..page_sources import FOLDER, INDEX, STYLE, joined_script, page_text
from .run_report import RunReport

ENTRY = "report.js"


class PageError(Exception):
    """The page of a running broker has not the lines that a report replaces."""


def report_page(report: RunReport) -> bytes:
    """Return the HTML of a report, in UTF-8."""
    script, style = joined_script(ENTRY), page_text(STYLE)
    icon = b64encode((FOLDER / "icon.svg").read_bytes()).decode()
    # The texts of style and script have no line break at their ends: a hash is that of the element's whole text.
    page = _replaced(
        page_text(INDEX),
        {
            "<title>fauxka</title>": f"<title>{escape(f'fauxka {report.title}')}</title>",
            '<meta charset="utf-8" />': f'<meta charset="utf-8" />\n    {_policy_element(script, style)}',
            '"page/icon.svg"': f'"data:image/svg+xml;base64,{icon}"',
            '<link rel="stylesheet" href="page/style.css" />': f"<style>{style}</style>",
            '    <script type="module" src="page/main.js"></script>\n': "",
            " The same data is at /v1/journal and /openapi.json.": "",
            "  </body>": f"{_data_element(report)}\n<script>{script}</script>\n  </body>",
        },
    )
    # Only the title can have a character that UTF-8 has not.
    return page.encode("utf-8", "replace")


def _replaced(page: str, replacements: Mapping[str, str]) -> str:
    """Return the page with other texts. All places are found before one is replaced: data may have the same texts."""
    pattern = "|".join(map(re.escape, replacements))
    found = Counter(re.findall(pattern, page))
    if found != Counter(replacements.keys()):
        missing = next((text for text in replacements if found[text] != 1), "")
        raise PageError(f"{INDEX} must have once: {missing}")
    return re.sub(pattern, lambda match: replacements[match.group()], page)


def _policy_element(script: str, style: str) -> str:
    """Return the element with the content security policy. It comes first: it does not apply to what is before it."""
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_source_of(script)}'",
            f"style-src '{_source_of(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}" />'


def _source_of(text: str) -> str:
    """Return the hash of an element's text. Source: Content Security Policy Level 3, section 2.3.1."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _data_element(report: RunReport) -> str:
    """Return the element with the data, in ASCII: a text can have a lone surrogate, which no encoding has."""
    data = json.dumps(msgspec.to_builtins(report), separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="report">{data}</script>'
