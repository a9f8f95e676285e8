"""The log that options select: segment files or topics of a broker."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from ...client.client_security import ClientSecurity
from ..decode.decoder import Decoder
from .fetch_log import FetchLog
from .fetch_splits import FetchSplit
from .file_log import FileLog
from .file_splits import FileSplit
from .options import LogOptions

Split = FileSplit | FetchSplit


def open_log(options: LogOptions) -> FileLog | FetchLog:
    """Return the log that the options select. Reads no file and sends no request."""
    return FetchLog(options) if options.bootstrap else FileLog(options)


def read_split(split: Split, decoder: Decoder, security: ClientSecurity) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a split. security: of the connections to a broker. Raises BrokerError, DataLossError."""
    return (split.secured_by(security) if isinstance(split, FetchSplit) else split).read(decoder)
