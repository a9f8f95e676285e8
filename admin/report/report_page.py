"""A report as one HTML file: styles, script and data are in it, and it loads nothing.

The data is JSON in a script element that a browser does not run. `<` is escaped there, so no text of the run can end
the element. The content security policy allows the script and the style of this page by their hashes, and nothing else.
"""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template

import msgspec

from .joined_script import join_modules
from .run_report import RunReport

PAGE_FOLDER = Path(__file__).parent.parent / "page"
ENTRY = "report.js"
# Without line breaks at the ends of style and script: a hash is that of the element's whole text.
_PAGE = Template("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="$policy">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
<link rel="icon" href="data:image/svg+xml;base64,$icon">
<style>$style</style>
</head>
<body>
<a class="skip" href="#view">Skip to content</a>
<header id="bar"></header>
<nav id="views" aria-label="Views"></nav>
<main id="view" tabindex="-1"></main>
<div id="notices" role="status" aria-live="polite"></div>
<noscript>This report needs JavaScript.</noscript>
<script type="application/json" id="report">$data</script>
<script>$script</script>
</body>
</html>
""")


def report_page(report: RunReport) -> bytes:
    """Return the HTML of a report, in UTF-8."""
    script, style = page_script(), _page_text("style.css")
    page = _PAGE.substitute(
        policy=_policy(script, style),
        title=escape(f"fauxka {report.title}"),
        icon=b64encode((PAGE_FOLDER / "icon.svg").read_bytes()).decode(),
        style=style,
        data=_escaped_json(report),
        script=script,
    )
    # Only the title can have a character that UTF-8 has not.
    return page.encode("utf-8", "replace")


@cache
def page_script() -> str:
    """Return the joined script of the report."""
    sources = {file.name: _page_text(file.name) for file in PAGE_FOLDER.glob("*.js")}
    return join_modules(sources, ENTRY)


def _page_text(name: str) -> str:
    return (PAGE_FOLDER / name).read_text("utf-8")


def _policy(script: str, style: str) -> str:
    """Return the content security policy."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_source_of(script)}'",
            f"style-src '{_source_of(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _source_of(text: str) -> str:
    """Return the hash of an element's text. Source: Content Security Policy Level 3, section 2.3.1."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _escaped_json(report: RunReport) -> str:
    """Return the data as ASCII: a text can have a lone surrogate, which no encoding has."""
    return json.dumps(msgspec.to_builtins(report), separators=(",", ":")).replace("<", "\\u003c")
