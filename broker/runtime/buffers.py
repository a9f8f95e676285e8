"""The buffers of a response, in a compiled module: the compiler does not read the types of other modules."""

from __future__ import annotations

# One response on the wire, size prefix included, in pieces: they are written as they are and never joined.
Buffers = list[bytes | bytearray | memoryview]
