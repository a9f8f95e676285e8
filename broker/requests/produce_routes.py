"""The routes of the Produce requests of a node, see produce_route, which is loaded with the first of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .produce_route import ProduceRoute

# Heads that a node keeps, with about 500 bytes each. A cluster of more partitions than this with producers for all of
# them starts over when the table is full; a request without a route is decoded in full.
PRODUCE_ROUTES_MAX: Final = 50_000


class ProduceRoutes:
    """The routes of a node. generation: grows when all routes are dropped, because topics or leaders have changed."""

    __slots__ = ("_routes", "generation")

    def __init__(self) -> None:
        """Start without routes."""
        # By API version and head.
        self._routes: dict[tuple[int, bytes], ProduceRoute] = {}
        self.generation = 0

    def find(self, api_version: int, head: bytes) -> ProduceRoute | None:
        """Return the route of a head in requests of this version."""
        return self._routes.get((api_version, head))

    def keep(self, api_version: int, head: bytes, route: ProduceRoute) -> None:
        """Add a route for the requests of this version that begin with head."""
        if len(self._routes) >= PRODUCE_ROUTES_MAX:
            self.clear()
        route.api_version, route.head, route.generation = api_version, head, self.generation
        self._routes[api_version, head] = route

    def clear(self) -> None:
        """Drop all routes."""
        self._routes.clear()
        self.generation += 1
