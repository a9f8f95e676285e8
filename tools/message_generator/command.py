"""The command line of the generator: writes the modules, or compares them with the files."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from .kio_source import message_names, messages_of
from .module_code import PACKAGE_SOURCE, module_sources

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "protocol" / "messages"


def run(arguments: list[str]) -> int:
    """Write the modules and return 0. With --check print the files that differ, and return 1 if there are any."""
    parser = argparse.ArgumentParser(description="write protocol/messages/ from the message definitions of kio")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the folder is not up to date")
    check: bool = parser.parse_args(arguments).check
    wanted = generate()
    found = {path.name: path.read_text() for path in FOLDER.glob("*.py")}
    different = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
    if check:
        for name in different:
            print(
                f"{FOLDER.relative_to(ROOT)}/{name} is not up to date: run tools/generate_messages.py", file=sys.stderr
            )
        return 1 if different else 0
    for name in different:
        if name in wanted:
            (FOLDER / name).write_text(wanted[name])
        else:
            (FOLDER / name).unlink()
    print(f"{len(wanted)} modules, {len(different)} of them changed")
    return 0


def generate() -> dict[str, str]:
    """Return the formatted source of each module, by file name."""
    sources = module_sources({name: messages_of(name) for name in message_names()})
    return _formatted({"__init__.py": PACKAGE_SOURCE, **{f"{name}.py": source for name, source in sources.items()}})


def _formatted(sources: dict[str, str]) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        for name, source in sources.items():
            (Path(folder) / name).write_text(source)
        ruff = [sys.executable, "-m", "ruff"]
        settings = ["--quiet", "--no-cache", "--config", str(ROOT / "pyproject.toml"), folder]
        subprocess.run([*ruff, "check", "--select", "I", "--fix", *settings], check=True)
        subprocess.run([*ruff, "format", *settings], check=True)
        return {name: (Path(folder) / name).read_text() for name in sources}
