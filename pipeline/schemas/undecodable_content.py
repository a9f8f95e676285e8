"""UndecodableContent: the error for a key or a value that is not of its schema."""


class UndecodableContent(ValueError):
    """A content cannot be decoded, or its schema has no such field. The message is one line."""
