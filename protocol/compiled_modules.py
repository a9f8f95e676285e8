"""Whether this installation has compiled modules: setup.py compiles those that every Produce runs, if it can.

A compiled file lies beside its source, and Python prefers it. Both give the same results.
"""

from __future__ import annotations

from importlib.util import find_spec

_COMPILED_MODULE = "fauxka.protocol.batches.record_validation"


def is_compiled() -> bool:
    """Return whether the compiled files are used. Does not import them."""
    spec = find_spec(_COMPILED_MODULE)
    return spec is not None and not (spec.origin or "").endswith(".py")
