"""The file of our own tokens in the data folder: their private key, and which of them are revoked.

Only the owner of the file may read it. It is replaced as a whole.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec

from ....storage.file_systems.own_folder import replace_file
from ...config.config_types import ConfigError

TOKEN_FILE = "oauth-tokens.json"
# A key has two kilobytes, and a revoked user a name and a number.
FILE_BYTES_MAX = 16 * 1024 * 1024
_PRIVATE = 0o600


class StoredTokens(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of the file.

    key_id: of the JWK. private_key: PKCS8 as PEM. generations: of the valid tokens by user, see token_issuer.
    """

    key_id: str
    private_key: str
    generations: Mapping[str, Annotated[int, msgspec.Meta(ge=0)]] = {}

    def __repr__(self) -> str:
        """Return a text without the key."""
        return f"StoredTokens(key_id={self.key_id!r})"


class TokenFile:
    """The file in a data folder."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """folder: the data folder."""
        self.path = Path(folder) / TOKEN_FILE

    def read(self) -> StoredTokens | None:
        """Return the content, None if there is no file. Raises ConfigError."""
        try:
            with self.path.open("rb") as file:
                content = file.read(FILE_BYTES_MAX + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ConfigError(f"cannot read {self.path}: {error.strerror}") from error
        try:
            if len(content) > FILE_BYTES_MAX:
                raise ValueError(f"more than {FILE_BYTES_MAX} bytes")
            return msgspec.json.decode(content, type=StoredTokens)
        except ValueError as error:
            # Without the content, which has the key.
            raise self.damaged() from error

    def damaged(self) -> ConfigError:
        """Return the error for a content that is not that of a TokenFile."""
        return ConfigError(f"cannot read {self.path}: it is damaged; without it a new key is made")

    def write(self, tokens: StoredTokens) -> None:
        """Replace the content. Raises OSError."""
        replace_file(self.path, msgspec.json.encode(tokens), mode=_PRIVATE, is_synced=True)
