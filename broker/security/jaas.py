"""The users in the JAAS config of PLAIN, as Kafka's PlainLoginModule has them: user_NAME="password"."""

from __future__ import annotations

import re

from ..config.config_types import ConfigError

_MODULE = re.compile(r"\s*[\w.]*PlainLoginModule\s+required\b(?P<options>.*);\s*", re.DOTALL)
_OPTION = re.compile(r'\s*(?P<name>[^\s=]+)\s*=\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bare>[^\s;"]+))', re.DOTALL)
_USER_PREFIX = "user_"


def parse_jaas_users(text: str, key: str) -> dict[str, str]:
    """Return the password of each user. key: for the message.

    Raises ConfigError, whose message does not have the text, because that has passwords.
    """
    match = _MODULE.fullmatch(text)
    if match is None:
        raise ConfigError(f'{key}: expected "org.apache.kafka.common.security.plain.PlainLoginModule required ...;"')
    users: dict[str, str] = {}
    options, position = match["options"].rstrip(), 0
    while position < len(options):
        option = _OPTION.match(options, position)
        if option is None:
            raise ConfigError(f'{key}: expected options name="value" after "required"')
        position = option.end()
        if option["name"].startswith(_USER_PREFIX):
            quoted = option["quoted"]
            value = option["bare"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
            users[option["name"].removeprefix(_USER_PREFIX)] = value
    return users
