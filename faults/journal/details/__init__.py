"""What a request was about and what its response has, from the decoded messages.

- kept_fetch: what the journal keeps of a Fetch. models: what a reader of the journal gets.
- request_details makes the models, with a module for each kind of request: fetches, listed_offsets, group_offsets,
  members, shares; and response_errors.
- Every list has at most PARTS_MAX elements, and the number of those that are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....rare_parts import part_loader

if TYPE_CHECKING:
    from . import fetch_messages as fetch_messages
    from . import kept_fetch as kept_fetch
    from . import request_details as request_details
else:
    __getattr__ = part_loader(__name__)
