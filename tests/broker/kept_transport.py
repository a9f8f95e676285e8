"""A transport that keeps what a connection does with it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable


class KeptTransport(asyncio.Transport):
    """Records the written bytes, the pauses of reading, and how it was closed. closed: "closed", "aborted" or ""."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self.is_reading_paused = False
        self.closed = ""

    @property
    def is_closed(self) -> bool:
        return self.closed != ""

    def get_extra_info(self, name: str, default: object = None) -> object:
        return default

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.written += b"".join(list_of_data)

    def pause_reading(self) -> None:
        self.is_reading_paused = True

    def resume_reading(self) -> None:
        self.is_reading_paused = False

    def close(self) -> None:
        self.closed = "closed"

    def abort(self) -> None:
        self.closed = "aborted"

    def is_closing(self) -> bool:
        return self.is_closed
