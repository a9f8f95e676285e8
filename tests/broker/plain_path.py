"""`python -m tests.broker.plain_path`: recorded_path in a process in which every module is plain Python.

It reads lines of JSON and answers each with one: the reads of a connection with their record, and null with the names
of the compiled modules that are imported.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module

from ..storage.plain_modules import COMPILED, SourceFinder


def main() -> None:
    """Serve the test."""
    sys.meta_path.insert(0, SourceFinder)
    path = import_module("tests.broker.recorded_path")
    for line in sys.stdin:
        reads = json.loads(line)
        print(json.dumps(compiled_modules() if reads is None else path.record_path(reads)), flush=True)


def compiled_modules() -> list[str]:
    """Return the modules of setup.py that are imported and not from a source."""
    imported = {name: sys.modules[name].__file__ for name in COMPILED if name in sys.modules}
    return [name for name, file in imported.items() if not (file or "").endswith(".py")]


if __name__ == "__main__":
    main()
