"""The error for damaged files."""


class CorruptFileError(Exception):
    """A file is damaged, truncated or of an unsupported version; the message gives the place and the fault."""
