"""Rare parts are loaded on first use.

A package lists the modules that most commands, brokers or tests do not need in its `__init__`, for type checkers only,
and gets its `__getattr__` (PEP 562) from `part_loader`:

    if TYPE_CHECKING:
        from . import sasl_gate as sasl_gate
    else:
        __getattr__ = part_loader(__name__)

Its users import the package, and name the module where they need it: `network.sasl_gate.SaslGate(...)`. Such a module
imports at its top what it needs itself. An import inside a function is left for libraries that are of an extra or take
long to import; tools/lint_ratchet.py lists these functions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import ModuleType


def part_loader(package: str, modules: Mapping[str, str] | None = None) -> Callable[[str], object]:
    """Return the `__getattr__` of a package: it imports the module of that name in the package.

    modules: the module of each name that the package offers besides its modules. Threads may use it at the same time,
    because the import system has a lock for each module.
    """
    module_of = modules or {}

    def load(name: str) -> object:
        if name in module_of:
            return getattr(import_part(module_of[name]), name)
        try:
            return import_part(name)
        except ModuleNotFoundError as error:
            if error.name != f"{package}.{name}":
                raise
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None

    def import_part(name: str) -> ModuleType:
        # Not importlib.import_module, whose imports `python -X importtime` does not list.
        __import__(f"{package}.{name}")
        return sys.modules[f"{package}.{name}"]

    return load
