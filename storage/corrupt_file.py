"""A file that is not what was once written to it."""


class CorruptFileError(Exception):
    """The content of a file is damaged, cut, or of a version that is not known; the message says where and how."""
