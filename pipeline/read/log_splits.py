"""The log that options select: segment files or topics of a broker."""

from __future__ import annotations

from .fetch_log import FetchLog
from .fetch_splits import FetchSplit
from .file_log import FileLog
from .file_splits import FileSplit
from .options import LogOptions

Split = FileSplit | FetchSplit


def open_log(options: LogOptions) -> FileLog | FetchLog:
    """Return the log that the options select. Reads no file and sends no request."""
    return FetchLog(options) if options.bootstrap else FileLog(options)
