"""The source of the tokens of OAUTHBEARER, from the properties of Kafka's clients and one of ours.

| property | source of the token |
|---|---|
| `fauxka.sasl.oauthbearer.token.command` | the standard output of this command |
| `sasl.oauthbearer.token.endpoint.url` with `file:` | the file |
| the same with `http:` or `https:` | the token endpoint, with the id and the secret of the client |
| none of them | none: a token without a signature, with the JAAS option `unsecuredLoginStringClaim_sub="alice"` |
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from .. import ConfigError
from ..security.jaas import JAAS_CONFIG
from ..security.java_text import trim
from .client_security import TokenCommand, TokenEndpoint, TokenFile, TokenLogin, TokenSource, UnsecuredToken

COMMAND = "fauxka.sasl.oauthbearer.token.command"
ENDPOINT_URL = "sasl.oauthbearer.token.endpoint.url"
CLIENT_ID = "sasl.oauthbearer.client.credentials.client.id"
CLIENT_SECRET = "sasl.oauthbearer.client.credentials.client.secret"
SCOPE = "sasl.oauthbearer.scope"
TOKEN_PROPERTIES = (COMMAND, ENDPOINT_URL, CLIENT_ID, CLIENT_SECRET, SCOPE)

_CLAIM_PREFIX = "unsecuredLoginStringClaim_"
_EXTENSION_PREFIXES = ("extension_", "unsecuredLoginExtension_")
# OAuthBearerClientInitialResponse.EXTENSION_KEY_PATTERN and EXTENSION_VALUE_PATTERN.
_EXTENSION_NAME = re.compile(r"[A-Za-z]+")
_EXTENSION_VALUE = re.compile(r"[\x21-\x7e \t\r\n]+")


def token_login_of(properties: Mapping[str, str], jaas: Mapping[str, str]) -> TokenLogin:
    """Return the login. jaas: the options of the login module. Raises ConfigError."""
    extensions = {
        name.removeprefix(prefix): value
        for prefix in _EXTENSION_PREFIXES
        for name, value in jaas.items()
        if name.startswith(prefix)
    }
    for name, value in extensions.items():
        if name == "auth" or not _EXTENSION_NAME.fullmatch(name) or not _EXTENSION_VALUE.fullmatch(value):
            raise ConfigError(f"{JAAS_CONFIG}: {name} is not a valid extension of OAUTHBEARER")
    return TokenLogin(_source_of(properties, jaas), tuple(extensions.items()))


def _source_of(properties: Mapping[str, str], jaas: Mapping[str, str]) -> TokenSource:
    command, url = properties.get(COMMAND), properties.get(ENDPOINT_URL)
    if command is not None and url is not None:
        raise ConfigError(f"set only one of {COMMAND} and {ENDPOINT_URL}, not both")
    if command is not None:
        return _command_of(command)
    if url is not None:
        return _source_at(trim(url), properties, jaas)
    claims = {name.removeprefix(_CLAIM_PREFIX): value for name, value in jaas.items() if name.startswith(_CLAIM_PREFIX)}
    if not claims.get("sub"):
        raise ConfigError(
            f"sasl.mechanism: OAUTHBEARER needs {COMMAND}, {ENDPOINT_URL},"
            f' or {_CLAIM_PREFIX}sub="USER" in {JAAS_CONFIG} for a token without a signature'
        )
    return UnsecuredToken(tuple(claims.items()))


def _command_of(text: str) -> TokenCommand:
    try:
        arguments = shlex.split(text)
    except ValueError:
        arguments = []
    if not arguments:
        raise ConfigError(f"{COMMAND}: must be a program and its arguments, quoted as for a shell")
    return TokenCommand(tuple(arguments))


def _source_at(url: str, properties: Mapping[str, str], jaas: Mapping[str, str]) -> TokenSource:
    parts = urlsplit(url)
    if parts.scheme == "file" and parts.path:
        return TokenFile(unquote(parts.path))
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise ConfigError(f"{ENDPOINT_URL}: must be a URL with file, http or https, without a user")
    # Kafka before 4.1 has them in the JAAS config.
    client_id = properties.get(CLIENT_ID) or jaas.get("clientId")
    client_secret = properties.get(CLIENT_SECRET) or jaas.get("clientSecret")
    if not client_id or not client_secret:
        raise ConfigError(f"{ENDPOINT_URL}: needs {CLIENT_ID} and {CLIENT_SECRET}")
    return TokenEndpoint(url, client_id, client_secret, properties.get(SCOPE) or jaas.get("scope"))
