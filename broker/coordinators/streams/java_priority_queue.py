"""Java's PriorityQueue, whose order among equal elements decides how Kafka assigns tasks.

Source: java.util.PriorityQueue, Java 17.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class JavaPriorityQueue(Generic[T]):
    """A binary heap with the least element first."""

    __slots__ = ("_heap", "_key")

    def __init__(self, elements: Iterable[T], key: Callable[[T], float]) -> None:
        """Add the elements one by one. key: what is compared; it may change while an element is not in the queue."""
        self._key = key
        self._heap: list[T] = []
        for element in elements:
            self.add(element)

    def __bool__(self) -> bool:
        """Return whether there are elements."""
        return bool(self._heap)

    def add(self, element: T) -> None:
        """Add an element."""
        heap, key = self._heap, self._key(element)
        index = len(heap)
        heap.append(element)
        while index:
            parent = (index - 1) // 2
            if key >= self._key(heap[parent]):
                break
            heap[index] = heap[parent]
            index = parent
        heap[index] = element

    def poll(self) -> T | None:
        """Remove and return the least element, or None."""
        heap = self._heap
        if not heap:
            return None
        least, last = heap[0], heap.pop()
        if not heap:
            return least
        key, index = self._key(last), 0
        while (child := 2 * index + 1) < len(heap):
            if child + 1 < len(heap) and self._key(heap[child]) > self._key(heap[child + 1]):
                child += 1
            if key <= self._key(heap[child]):
                break
            heap[index] = heap[child]
            index = child
        heap[index] = last
        return least
