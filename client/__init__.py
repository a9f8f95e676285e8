"""A blocking client of a broker of fauxka or of Kafka, with TLS and SASL, for commands and Spark jobs.

- A connection has one request in flight (broker_connection.py). It authenticates when it is opened, and again before
  its session ends (sasl_session.py).
- The properties of Kafka's clients become a ClientSecurity (security_properties.py). It has the content of all stores,
  so that a process on another machine needs no files. Tokens are fetched by the process that connects.
- No message and no repr has a password, a private key or a token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..rare_parts import part_loader

if TYPE_CHECKING:
    from . import tls_connection as tls_connection
    from . import token_request as token_request
else:
    __getattr__ = part_loader(__name__)
