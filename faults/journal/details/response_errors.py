"""The errors inside a response: the first one with its place, the number of the others, and all names."""

from __future__ import annotations

from ....protocol.apis.fields import TopicNameOf
from ....protocol.errors.error_places import ErrorPlace, FoundError, place_of
from ....protocol.request_facts import RequestFacts
from ....protocol.shortened_text import shortened
from .exchange import error_name_of
from .models import ResponseError


class ResponseErrors:
    """Collects the errors of one response, in their order.

    first: what the first one is about; None without errors. names: of all. more: how many there are beside the first.
    """

    __slots__ = ("_topic_name_of", "first", "more", "names")

    def __init__(self, topic_name_of: TopicNameOf) -> None:
        """topic_name_of: returns the name of a topic id, None for an unknown one."""
        self._topic_name_of = topic_name_of
        self.first: ErrorPlace | None = None
        self.more = 0
        self.names: set[str] = set()

    def add(self, found: FoundError) -> None:
        """Add an error of a message."""
        if self.first is None:
            self.add_place(place_of(found, self._topic_name_of))
        else:
            self._count(found.code)

    def add_place(self, place: ErrorPlace) -> None:
        """Add an error with its place."""
        if self.first is None:
            self.first = place
            self.names.add(error_name_of(place.code) or "")
        else:
            self._count(place.code)

    def _count(self, code: int) -> None:
        self.more += 1
        self.names.add(error_name_of(code) or "")

    def first_error(self, named: RequestFacts | None, member_id: str | None) -> ResponseError | None:
        """Return the first error, with the group, transaction and member of the request where the response has none.

        named: what the request names; None for an unknown request. member_id: of the request.
        """
        place = self.first
        if place is None:
            return None
        if named is not None:
            place = _with_names(place, named)
        if place.member_id is None and place.topic is None:
            place = place._replace(member_id=member_id)
        texts = {
            "topic": place.topic,
            "group_id": place.group_id,
            "member_id": place.member_id,
            "transactional_id": place.transactional_id,
            "key": place.key,
        }
        return ResponseError(
            error=error_name_of(place.code) or "",
            partition=place.partition,
            **{name: text if text is None else shortened(text) for name, text in texts.items()},
        )


def _with_names(place: ErrorPlace, named: RequestFacts) -> ErrorPlace:
    """Return the place with the one group and the transaction of the request, or those that its key names."""
    if place.key is not None and place.key in named.group_ids:
        return place._replace(group_id=place.key)
    if place.group_id is None and len(named.group_ids) == 1:
        place = place._replace(group_id=named.group_ids[0])
    return place if place.transactional_id else place._replace(transactional_id=named.transactional_id)
