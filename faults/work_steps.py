"""Work in steps: a generator that yields after each step, and returns the result. Its caller may work between them."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

Result = TypeVar("Result")
Steps = Generator[None, None, Result]
