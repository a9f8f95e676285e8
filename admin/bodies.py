"""Reads the body of a call: JSON, checked against what the operation is described with."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from .errors import CallError

Body = TypeVar("Body")


def read_body(content: bytes, kind: type[Body]) -> Body:
    """Return the body as what the operation takes; raises CallError 400."""
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.MsgspecError as error:
        raise CallError(400, str(error), field="") from error
