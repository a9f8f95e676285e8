"""Records `fauxka demo` as docs/pictures/demo.svg, the picture at the top of README.md.

    python tools/demo_cast.py [--check]

The lines appear one after another, by CSS alone. The output has no times, so that a recording is the same each time.
With --check nothing is written, and the exit code is 1 if the picture is not up to date.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "pictures" / "demo.svg"
COLUMNS = 80
RUN_SECONDS_MAX = 60
# What follows is a list of what README.md says below the picture.
END = "Checks"
# Pixels of a letter and a line, in a monospaced font of 14 pixels; and around the text.
LETTER, LINE, MARGIN = 8.5, 18, 16
LINE_SECONDS = 0.18
# The lines that the picture is about, by a part of them.
STRESSED = {"lost:": "lost", "X - - -": "lost", "duplicate of": "found", "nothing is appended": "found"}
STYLE = """
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #24292f; white-space: pre; }
rect { fill: #f6f8fa; }
.lost { fill: #b3261e; } .found { fill: #116329; }
.line { opacity: 0; animation: appear 0.01s linear forwards; }
@keyframes appear { to { opacity: 1; } }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } rect { fill: #161b22; } .lost { fill: #ff8a80; } .found { fill: #7ee787; }
}
@media (prefers-reduced-motion: reduce) { .line { animation: none; opacity: 1; } }
"""


def main() -> int:
    """Write the picture, or compare it, and return the exit code."""
    made = picture_of(shown_lines(record()))
    if "--check" not in sys.argv[1:]:
        PICTURE.write_text(made)
        return 0
    if PICTURE.read_text() != made:
        print(f"{PICTURE.relative_to(ROOT)} is not up to date: run tools/demo_cast.py", file=sys.stderr)
        return 1
    return 0


def record() -> str:
    """Return the output of `fauxka demo`."""
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    ended = subprocess.run(
        [sys.executable, "-m", "fauxka", "demo"],
        env={**os.environ, "COLUMNS": str(COLUMNS), "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS_MAX,
        check=True,
    )
    return ended.stdout


def shown_lines(output: str) -> list[str]:
    """Return the lines of the picture: the command, the diagram and the verdict."""
    return ["$ fauxka demo", *output.partition(f"\n{END}\n")[0].rstrip().splitlines()]


def picture_of(lines: list[str]) -> str:
    """Return the lines as SVG."""
    width, height = round(COLUMNS * LETTER) + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    size = f'width="{width}" height="{height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {size}>',
            "<title>The output of fauxka demo: a lost acknowledgement, and its duplicate that is not appended</title>",
            f"<style>{STYLE}</style>",
            f'<rect {size} rx="6"/>',
            *_texts(lines),
            "</svg>",
            "",
        ]
    )


def _texts(lines: Iterable[str]) -> Iterable[str]:
    for number, line in enumerate(lines):
        kind = next((name for part, name in STRESSED.items() if part in line), "")
        names = f"line {kind}".strip()
        delay = f"animation-delay: {number * LINE_SECONDS:.2f}s"
        place = f'x="{MARGIN}" y="{MARGIN + number * LINE + 14}"'
        yield f'<text class="{names}" style="{delay}" {place} xml:space="preserve">{escape(line)}</text>'


if __name__ == "__main__":
    sys.exit(main())
