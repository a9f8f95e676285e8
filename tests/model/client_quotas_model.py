"""Which quota applies to a client, as Kafka's DefaultQuotaCallback decides it: the tags of its rate first.

A quota is (user, client id) -> bound. DEFAULT is the default, and None means that the entity has no such name.
"""

from __future__ import annotations

from collections.abc import Mapping

DEFAULT = "<default>"
Name = str | None
Quotas = Mapping[tuple[Name, Name], float]


def tags_of(quotas: Quotas, user: str, client_id: str) -> tuple[str, str]:
    """Return the user and the client id whose clients share a rate, "" for all of them."""
    if (user, client_id) in quotas or (user, DEFAULT) in quotas:
        return user, client_id
    if (user, None) in quotas:
        return user, ""
    if (DEFAULT, client_id) in quotas or (DEFAULT, DEFAULT) in quotas:
        return user, client_id
    if (DEFAULT, None) in quotas:
        return user, ""
    return "", client_id


def bound_of(quotas: Quotas, tags: tuple[str, str]) -> float | None:
    """Return the bound of the rate with these tags."""
    user, client_id = tags
    if user and client_id:
        names: list[tuple[Name, Name]] = [(user, client_id), (user, DEFAULT), (DEFAULT, client_id), (DEFAULT, DEFAULT)]
    elif user:
        names = [(user, None), (DEFAULT, None)]
    elif client_id:
        names = [(None, client_id), (None, DEFAULT)]
    else:
        names = []
    return next((quotas[name] for name in names if name in quotas), None)
