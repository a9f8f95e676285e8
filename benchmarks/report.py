"""Formats figures as a Markdown table for docs/performance.md."""

import os
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path

from .goals import GOALS, Goal
from .measurement import Figures
from .targets import KAFKA_NAME


def machine() -> str:
    """Return a line with processor, memory, kernel and Python version."""
    model = platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3
    versions = f"Linux {platform.release()}, Python {platform.python_version()}"
    return f"{os.cpu_count()} x {model}, {memory_gib:.0f} GiB, {versions}"


def table(results: Mapping[str, Figures]) -> str:
    """Return a table with a row per figure and a column per target, with the ratio to Kafka in brackets."""
    names = dict.fromkeys(name for figures in results.values() for name in figures)
    lines = ["| | " + " | ".join(results) + " |", "|---|" + "---:|" * len(results)]
    lines += [f"| {name} | " + " | ".join(_cell(results, target, name) for target in results) + " |" for name in names]
    return "\n".join(lines)


def _cell(results: Mapping[str, Figures], target: str, name: str) -> str:
    value = results[target].get(name)
    if value is None:
        return "-"
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    reference = results.get(KAFKA_NAME, {}).get(name)
    if target == KAFKA_NAME or not reference:
        return text
    return f"{text} ({value / reference:.2g})"


def checklist(results: Mapping[str, Figures], goals: Iterable[Goal] = GOALS) -> str:
    """Return a line per goal."""
    return "\n".join(goal.line(results) for goal in goals)
