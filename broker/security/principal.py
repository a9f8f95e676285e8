"""The principal of a connection (Kafka: KafkaPrincipal)."""

from __future__ import annotations

from typing import NamedTuple

USER_TYPE = "User"


class Principal(NamedTuple):
    """Who a client is.

    name: the SASL user, or the distinguished name of a client certificate.
    """

    name: str
    type: str = USER_TYPE

    def __str__(self) -> str:
        """Return the principal as in ACLs: "User:alice"."""
        return f"{self.type}:{self.name}"


class Client(NamedTuple):
    """The client of a request. host: its address."""

    principal: Principal
    host: str


ANONYMOUS = Principal("ANONYMOUS")
