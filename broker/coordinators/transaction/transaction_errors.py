"""Which errors of the transaction coordinator older versions of a request do not know, and what they are told."""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode


def error_for(code: ErrorCode, api_version: int, *, fenced_since: int) -> ErrorCode:
    """Return what a request of this version is answered.

    fenced_since: the first version that knows PRODUCER_FENCED (KIP-588); those before know INVALID_PRODUCER_EPOCH.
    """
    if code == ErrorCode.PRODUCER_FENCED and api_version < fenced_since:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return code
