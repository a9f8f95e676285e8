"""One log to read, of files or of a broker, whichever the options name."""

from __future__ import annotations

from ..options import LogOptions
from .fetch_log import FetchLog
from .fetch_splits import FetchSplit
from .file_log import FileLog
from .file_splits import FileSplit

Split = FileSplit | FetchSplit


def open_log(options: LogOptions) -> FileLog | FetchLog:
    """Return the log that the options name; nothing is read or asked yet."""
    return FetchLog(options) if options.bootstrap else FileLog(options)
