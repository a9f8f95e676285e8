"""Modules that setup.py compiles with mypyc where it finds a C compiler.

A compiled file lies beside its source, and Python prefers it. With FAUXKA_COMPILED=0 in the environment, the package of
such a module loads the source, which gives the same results.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

RECORD_VALIDATION = "fauxka.protocol.batches.record_validation"


def load_source(name: str, package_file: str) -> None:
    """Load the source of the module with this full name. package_file: `__file__` of its package."""
    path = Path(package_file).with_name(f"{name.rpartition('.')[2]}.py")
    spec = spec_from_file_location(name, path)
    assert spec is not None, f"{path} is a Python file"
    assert spec.loader is not None, "a Python file has a loader"
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


def is_compiled(name: str) -> bool:
    """Whether an import of the module loads its compiled file; the module itself is not imported by this call."""
    # Its package decides which of the two is loaded.
    import_module(name.rpartition(".")[0])
    spec = find_spec(name)
    return spec is not None and not (spec.origin or "").endswith(".py")
