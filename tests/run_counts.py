"""Counts of Hypothesis examples, seeds and kill rounds: whole numbers by default, smaller ones in a slice.

`make test` and `make test-slices` set FAUXKA_TEST_COUNTS=slice. `make test-all` and a plain `pytest` run whole numbers.
"""

import os

from hypothesis import settings

COUNTS_VARIABLE = "FAUXKA_TEST_COUNTS"
WHOLE, SLICE = "whole", "slice"
# Of property tests that name no number: Hypothesis' own default.
EXAMPLES = 100
# A slice has a quarter of the examples.
EXAMPLES_DIVISOR = 4


def is_slice() -> bool:
    """Return whether this run takes the smaller counts. Raises ValueError for an unknown value of the variable."""
    value = os.environ.get(COUNTS_VARIABLE, WHOLE)
    if value not in (WHOLE, SLICE):
        raise ValueError(f"{COUNTS_VARIABLE} is {value!r}; allowed are {WHOLE!r} and {SLICE!r}")
    return value == SLICE


def count(whole: int, *, in_slice: int) -> int:
    """Return the whole count, or the smaller one in a slice."""
    return in_slice if is_slice() else whole


def examples(whole: int) -> int:
    """Return the examples of a property test: the whole count, or a quarter in a slice."""
    return count(whole, in_slice=whole // EXAMPLES_DIVISOR)


def load_hypothesis_profile() -> None:
    """Set the examples of tests that name no number, and no deadline: a loaded machine is no failure."""
    settings.register_profile("fauxka", settings.default, max_examples=examples(EXAMPLES), deadline=None)
    settings.load_profile("fauxka")
