"""Bearer tokens of OAUTHBEARER: their validators, key sets and our own issuer (Kafka: security.oauthbearer)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....rare_parts import part_loader

if TYPE_CHECKING:
    from . import bearer_token as bearer_token
    from . import key_source as key_source
    from . import oauth_config as oauth_config
    from . import signed_validator as signed_validator
    from . import signing_key as signing_key
    from . import token_file as token_file
    from . import token_issuer as token_issuer
else:
    __getattr__ = part_loader(__name__)
