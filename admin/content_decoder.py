"""What decodes keys and values by schemas, for the admin API. The command that serves a broker makes it."""

from __future__ import annotations

from typing import Literal, Protocol

Content = Literal["key", "value"]


class DecodedContent(Protocol):
    """A key or value that was decoded."""

    @property
    def kind(self) -> str:
        """avro, protobuf or json."""
        ...

    @property
    def schema_id(self) -> int | None:
        """The schema id in front of the content; None without one."""
        ...

    @property
    def json(self) -> str:
        """The content as JSON."""
        ...


class ContentDecoder(Protocol):
    """Decodes keys and values. It may wait for a schema registry, so it is called in a thread of its own."""

    def decode(self, content: Content, data: bytes, /) -> DecodedContent | None:
        """Return a key or value; None if no schema is for it.

        Raises ValueError, in one line, for a content that is not of its schema, and if the registry fails.
        """
        ...
