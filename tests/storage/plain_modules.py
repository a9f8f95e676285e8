"""A second copy of protocol and storage in this process, whose modules are all loaded from their sources."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("fauxka.broker", "fauxka.faults", "fauxka.protocol", "fauxka.storage")
COMPILED = [
    name.replace("/", ".")
    for name in re.findall(r'^    "src/(fauxka/.*)\.py",$', (ROOT / "setup.py").read_text(), re.MULTILINE)
]
# Modules that use the compiled ones, whose classes the cases need, or that load on first use: later, the module of this
# process would be found, whose exceptions are other classes.
USED = (
    "fauxka.protocol.batches.cramjam_codecs",
    "fauxka.protocol.batches.record_batch",
    "fauxka.storage.log_config",
    "fauxka.storage.log_loader",
    "fauxka.storage.file_systems.memory_file_system",
    "fauxka.storage.partition_log",
    "fauxka.storage.producers.emulated_version",
)


class Modules:
    """Modules by their names. As they are imported: the compiled ones, unless there are none."""

    def __init__(self, modules: Mapping[str, ModuleType]) -> None:
        self._modules = modules

    def __getitem__(self, name: str) -> Any:
        """Return the module fauxka.NAME."""
        return self._modules[f"fauxka.{name}"]


class SourceFinder:
    """Finds the sources of the compiled modules."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in COMPILED or path is None:
            return None
        source = str(Path(next(iter(path))) / f"{name.rpartition('.')[2]}.py")
        return spec_from_file_location(name, source, loader=SourceFileLoader(name, source))


def imported_modules() -> Modules:
    """Return the modules as the broker has them."""
    return Modules({name: import_module(name) for name in (*COMPILED, *USED)})


def plain_modules() -> Modules:
    """Import the parts again, from sources, and leave the modules of this process as they were."""
    import_module("fauxka")
    before = {name: module for name, module in sys.modules.items() if name.startswith(PARTS)}
    parents = {name: getattr(sys.modules["fauxka"], name.rpartition(".")[2]) for name in PARTS if name in before}
    for name in before:
        del sys.modules[name]
    sys.meta_path.insert(0, SourceFinder)
    try:
        return Modules({name: import_module(name) for name in (*COMPILED, *USED)})
    finally:
        sys.meta_path.remove(SourceFinder)
        for name in [name for name in sys.modules if name.startswith(PARTS)]:
            del sys.modules[name]
        sys.modules.update(before)
        for name, module in parents.items():
            setattr(sys.modules["fauxka"], name.rpartition(".")[2], module)
