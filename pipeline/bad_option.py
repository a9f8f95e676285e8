"""The one error of somebody who asks for what cannot be had."""


class BadOption(ValueError):
    """An option, a schema or a place that cannot be used; the words are one line."""
