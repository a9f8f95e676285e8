"""Tracebacks of failed tests without the frames of this package: the last frame is the line of the test."""

from __future__ import annotations

import concurrent.futures
import contextlib
from pathlib import Path
from types import TracebackType

_PACKAGE = Path(__file__).parent.parent
# Frames up to its last one are steps of pytest, which calls its hooks and fixtures.
_PLUGIN = _PACKAGE / "pytest_plugin.py"
# A call of a Broker waits for the broker's thread in frames of the first, and changes errors in frames of the other.
_OF_CALLS = (Path(concurrent.futures.__file__).parent, Path(contextlib.__file__))


def without_internal_frames(traceback: TracebackType | None) -> TracebackType | None:
    """Return a copy without the frames of this package and of pytest; None if no frame is left.

    Frames of functions that the package calls, such as the function of Broker.call, stay.
    """
    shown: list[TracebackType] = []
    is_internal = False
    while traceback is not None:
        file = Path(traceback.tb_frame.f_code.co_filename)
        is_internal = _PACKAGE in file.parents or (is_internal and _is_of_calls(file))
        if file == _PLUGIN:
            shown.clear()
        elif not is_internal:
            shown.append(traceback)
        traceback = traceback.tb_next
    visible: TracebackType | None = None
    for each in reversed(shown):
        visible = TracebackType(visible, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return visible


def _is_of_calls(file: Path) -> bool:
    return any(each in (file, *file.parents) for each in _OF_CALLS)


def hide_in_causes(error: BaseException) -> None:
    """Remove the internal frames from the tracebacks of the errors that caused this one."""
    seen = {id(error)}
    pending = [error.__cause__, error.__context__]
    while pending:
        cause = pending.pop()
        if cause is not None and id(cause) not in seen:
            seen.add(id(cause))
            cause.__traceback__ = without_internal_frames(cause.__traceback__)
            pending += [cause.__cause__, cause.__context__]
