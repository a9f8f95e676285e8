"""Reads what a docstring says first."""

from __future__ import annotations

import inspect
import re

_END_OF_SENTENCE = re.compile(r"(?<=\.)\s")


def effect_of(documented: object) -> str:
    """Return the effect of an action or a recipe: the first sentence of its docstring."""
    return _END_OF_SENTENCE.split(inspect.getdoc(documented) or "", maxsplit=1)[0]
