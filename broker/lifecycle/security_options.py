"""The users of a cluster, and the security and certificates of its listeners."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...security.security_protocol import SecurityProtocol
from .. import security
from ..config.broker_config import BrokerConfig
from ..config.config_types import ConfigError
from ..network.listeners import WILDCARD_HOSTS, ListenerConfig
from ..security import oauth, tls
from .listener_options import names_in_keys

if TYPE_CHECKING:
    from pathlib import Path

    from ..security.listener_keys import ListenerKeys
    from ..security.oauth.token_issuer import TokenIssuer
    from ..security.tls.listener_tls import ListenerTls, ThrowAway
    from ..security.users import Users

# The names under which a client on this machine connects.
_LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


def parse_users(texts: Sequence[str]) -> dict[str, str]:
    """Return the password of each user of --user. Raises ConfigError, without a password."""
    users: dict[str, str] = {}
    for text in texts:
        name, separator, password = text.partition(":")
        if not name or not separator or not password:
            raise ConfigError("--user: expected NAME:PASSWORD")
        if name in users:
            raise ConfigError(f"--user: {name} is given twice")
        users[name] = password
    return users


def new_users(
    passwords: Mapping[str, str], token_lifetime_ms: int | None
) -> tuple[Users, TokenIssuer] | tuple[None, None]:
    """Return the users with these passwords, and what issues tokens to them; None without any user.

    token_lifetime_ms: None for the default.
    """
    if not passwords:
        return None, None
    made, issuing = security.users.Users(passwords), oauth.token_issuer
    return made, issuing.TokenIssuer(
        made, issuing.LIFETIME_MS_DEFAULT if token_lifetime_ms is None else token_lifetime_ms
    )


def keep_tokens(issuer: TokenIssuer | None, folder: str | None) -> None:
    """Keep the key and the revocations of the tokens in a data folder, if there is one. Raises ConfigError."""
    if issuer is None or folder is None:
        return
    issuer.keep_in(oauth.token_file.TokenFile(folder))


class ListenerSecurities:
    """Makes the security of listeners. Without certificates in the keys all share those of a throw-away authority.

    tls_dir: the folder of the throw-away certificates, None before there are any; a temporary one is deleted with this
    object. warnings: lines for the log.
    """

    def __init__(
        self,
        config: BrokerConfig,
        prefixed: Mapping[str, str],
        users: Users | None,
        token_issuer: TokenIssuer | None,
        tls_dir: str | None,
    ) -> None:
        """prefixed: the entries that begin with listener.name. users: of all listeners. tls_dir: --tls-dir.

        token_issuer: None for a broker whose tokens all come from elsewhere.
        """
        self._config = config
        self._prefixed = prefixed
        self._users = users
        self._token_issuer = token_issuer
        self._given_dir = tls_dir
        self.tls_dir: Path | None = None
        self.warnings: list[str] = []

    def with_security(
        self, listeners: Sequence[ListenerConfig], protocols: Mapping[str, SecurityProtocol]
    ) -> list[ListenerConfig]:
        """Return the listeners with what they demand of their clients. Raises ConfigError."""
        if self._prefixed:
            security.listener_keys.check_listener_keys(self._prefixed, protocols, names_in_keys(self._config))
        if all(protocols[each.name] is SecurityProtocol.PLAINTEXT for each in listeners):
            return list(listeners)
        users = self._users or security.users.Users({})
        accounts = security.listener_security.Accounts(users, self._token_issuer)
        hosts = hosts_of(listeners)

        def make_tls(keys: ListenerKeys) -> ListenerTls:
            return tls.listener_tls.listener_tls(keys, lambda: self._throw_away(hosts))

        of_listeners = [
            security.listener_keys.ListenerKeys(each.name, protocols[each.name], self._config, self._prefixed)
            for each in listeners
        ]
        ignored = security.listener_keys.CLIENT_AUTH_IGNORED
        self.warnings += [ignored % keys.name for keys in of_listeners if keys.ignores_client_auth]
        return [
            each._replace(security=security.listener_security.security_of(keys.protocol, keys, accounts, make_tls))
            for each, keys in zip(listeners, of_listeners, strict=True)
        ]

    def ensure_authority(self, listeners: Sequence[ListenerConfig]) -> None:
        """Make sure that the folder of the throw-away certificates exists. Raises ConfigError."""
        self._throw_away(hosts_of(listeners))

    def _throw_away(self, hosts: Sequence[str]) -> ThrowAway:
        """Return where the throw-away certificates are. The first call writes them if needed. Raises ConfigError."""
        self.tls_dir = self.tls_dir or tls.throw_away_ca.open_folder(self._given_dir, hosts, self)
        return tls.listener_tls.ThrowAway(self.tls_dir, hosts)


def hosts_of(listeners: Sequence[ListenerConfig]) -> list[str]:
    """Return the names and addresses under which clients may connect."""
    named = [host for each in listeners for host in (each.host, each.advertised_host) if host is not None]
    hosts = dict.fromkeys((*_LOCAL_HOSTS, socket.gethostname(), *named))
    return [host for host in hosts if host not in WILDCARD_HOSTS]
