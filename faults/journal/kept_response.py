"""What the journal keeps of a response: its bytes if it is small, the numbers of a Fetch, or the details at once.

- Bytes are decoded when the journal is read.
- A large request or response is reduced to its details when its response is encoded: in steps, because it may have
  100,000 elements. So is one with secrets, whose details have none.
- The parts that make details are loaded on first use.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

from ...protocol.api_keys import ApiKey
from . import details

if TYPE_CHECKING:
    from ...protocol.apis.fields import TopicNameOf
    from ...protocol.codec_messages import Response
    from ...protocol.request_facts import Request
    from ..request_view import RequestView
    from .details.kept_fetch import KeptResponse
    from .details.models import RequestDetails

    # The details of a large response, after steps.
    Reduction = Generator[None, None, RequestDetails]

# A larger response is reduced to its details; as large as the requests whose bodies are kept.
RESPONSE_BYTES_MAX = 4096
# The size of the details of a large request: about that of their parts.
DETAILS_BYTES = 10_000

_PRODUCE, _FETCH = int(ApiKey.PRODUCE), int(ApiKey.FETCH)


def keep_response(
    context: RequestView,
    request: Request,
    response: Response,
    encoded: Sequence[bytes | bytearray | memoryview],
    topic_name_of: TopicNameOf,
) -> KeptResponse | Reduction:
    """Return what is kept of a response. encoded: its frame. None for a Produce, which has its batches."""
    if context.api_key == _FETCH:
        return details.kept_fetch.keep_fetch(request, response)
    if context.api_key == _PRODUCE:
        return None
    if context.kept_body is not None and len(encoded) == 1 and len(encoded[0]) <= RESPONSE_BYTES_MAX:
        return bytes(encoded[0])
    return details.request_details.reduce_exchange(context, request, response, topic_name_of)


def size_of(kept: KeptResponse) -> int:
    """Return the bytes that a kept response takes, about."""
    if kept is None:
        return 0
    if isinstance(kept, bytes):
        return len(kept)
    return len(kept[5]) + 8 * len(kept[7]) if isinstance(kept, tuple) else DETAILS_BYTES
