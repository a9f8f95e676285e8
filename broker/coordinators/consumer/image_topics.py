"""The topics of the metadata image, as consumer groups and share groups see them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .topics import GroupTopic

if TYPE_CHECKING:
    from ...metadata.metadata_image import MetadataImage, TopicImage


class ImageTopics:
    """The topics of the image; implements GroupTopics."""

    __slots__ = ("_image", "_names", "_version")

    def __init__(self, image: MetadataImage) -> None:
        """image: read at each call."""
        self._image = image
        self._version = 0
        self._names: frozenset[str] = frozenset()

    def version(self) -> int:
        """Return a number that increases when topics were created since the last call."""
        names = self._image.topics.keys()
        if names != self._names:
            self._version += not names <= self._names
            self._names = frozenset(names)
        return self._version

    def continue_after(self, version: int) -> None:
        """Return numbers above version from now on, because an earlier run of the broker used it."""
        self._version = max(self._version, version + 1)

    def find(self, name: str) -> GroupTopic | None:
        """Return the topic with this name, or None."""
        return self._of(self._image.find_topic(name))

    def find_by_id(self, topic_id: bytes) -> GroupTopic | None:
        """Return the topic with this id, or None."""
        return self._of(self._image.find_topic_by_id(topic_id))

    def names(self) -> Iterable[str]:
        """Return the names of all topics."""
        return self._image.topics

    def _of(self, topic: TopicImage | None) -> GroupTopic | None:
        if topic is None:
            return None
        rack = self._image.configs.current.broker_rack
        return GroupTopic(topic.name, topic.topic_id, len(topic.partitions), () if rack is None else (rack,))
