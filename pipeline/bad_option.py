"""BadOption: the error for invalid input of the user."""


class BadOption(ValueError):
    """An option, a schema or a path cannot be used. The message is one line."""
