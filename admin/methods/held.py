"""The requests that fault rules hold: list and release them."""

from __future__ import annotations

from ...faults.strict_json import convert
from ..operations import held_operations
from ..operations.held_operations import HeldRequestInfo, Release
from ..paging import NumberPage
from .base import Methods

# Within the class, `list` is the method.
HeldItems = list[HeldRequestInfo]


class Held(Methods):
    """The requests that a fault rule holds, such as faults.held(); faults.held().await_hits(2) waits for two."""

    def list(self) -> HeldItems:
        """Return the held requests, in the order of their arrival."""
        return self._all(held_operations.list_held, NumberPage())

    def release(self, *requests: HeldRequestInfo | int) -> None:
        """Release requests, or their ids, in this order; without arguments all.

        Raises CallError if one is not held; then none is released.
        """
        ids = [request.id if isinstance(request, HeldRequestInfo) else request for request in requests]
        if not ids:
            held = self.list()
            ids = [request.id for request in held]
        if ids:
            self._perform(held_operations.release_held_in_order, body=convert({"ids": ids}, Release))
