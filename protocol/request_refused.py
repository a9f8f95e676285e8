"""The error for a whole Produce request."""

from __future__ import annotations

from .error_codes import ErrorCode, KafkaError


class RequestRefused(KafkaError):
    """An error for every partition of the request; nothing of the request is appended.

    message_for_client: the error_message that Kafka sends with it, None for none.
    """

    def __init__(self, code: ErrorCode, message: str, message_for_client: str | None = None) -> None:
        """message: for the log. message_for_client: for the response."""
        super().__init__(code, message)
        self.message_for_client = message_for_client
