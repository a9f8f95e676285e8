"""JAAS configs: files of entries, the options of a login module, and the users of PLAIN: user_NAME="password"."""

from __future__ import annotations

import re

from .. import ConfigError

JAAS_CONFIG = "sasl.jaas.config"
PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
OAUTHBEARER_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
_CONFIG = re.compile(r"\s*(?P<module>[\w.]+)\s+(?i:required)\b(?P<options>.*);\s*", re.DOTALL)
# A text in quotes of either kind (org.apache.kafka.common.security.JaasConfig).
_TEXT = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
_OPTION = re.compile(rf"""\s*(?P<name>[^\s=]+)\s*=\s*(?:(?P<quoted>{_TEXT})|(?P<bare>[^\s;"']+))""", re.DOTALL)
_USER_PREFIX = "user_"
_QUOTES = ('"', "'")
_TEXT_OR_COMMENT = re.compile(rf"{_TEXT}|//[^\n]*|/\*.*?\*/", re.DOTALL)
_ENTRY = re.compile(rf"""\s*(?P<name>[^\s{{}}"';]+)\s*\{{(?P<modules>(?:{_TEXT}|[^"'{{}}])*)\}}\s*;\s*""", re.DOTALL)
_MODULE = re.compile(rf"""\s*(?P<module>(?:{_TEXT}|[^"';])+;)""", re.DOTALL)


def parse_jaas_options(text: str, module: str, key: str) -> dict[str, str]:
    """Return the options of a login module.

    module: its class, of which the package may be missing. key: for the message.
    Raises ConfigError, whose message does not have the text, because that has passwords.
    """
    match = _CONFIG.fullmatch(text)
    if match is None or match["module"].rpartition(".")[2] != module.rpartition(".")[2]:
        raise ConfigError(f'{key}: expected "{module} required ...;"')
    found: dict[str, str] = {}
    options, position = match["options"].rstrip(), 0
    while position < len(options):
        option = _OPTION.match(options, position)
        if option is None:
            raise ConfigError(f'{key}: expected options name="value" after "required"')
        position = option.end()
        quoted = option["quoted"]
        found[option["name"]] = option["bare"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted[1:-1])
    return found


def parse_jaas_users(text: str, key: str) -> dict[str, str]:
    """Return the password of each user of PLAIN. Raises ConfigError, see parse_jaas_options."""
    options = parse_jaas_options(text, PLAIN_MODULE, key)
    return {name.removeprefix(_USER_PREFIX): value for name, value in options.items() if name.startswith(_USER_PREFIX)}


def parse_jaas_file(text: str, name: str) -> dict[str, list[str]]:
    """Return the login modules by entry, `NAME {module required option="value"; ...};`, each as a config of its own.

    name: of the file, for the message. Raises ConfigError, whose message does not have the text; that has passwords.
    """
    code = _TEXT_OR_COMMENT.sub(lambda found: found[0] if found[0].startswith(_QUOTES) else " ", text).rstrip()
    entries: dict[str, list[str]] = {}
    position = 0
    while position < len(code):
        entry = _ENTRY.match(code, position)
        if entry is None:
            line = code.count("\n", 0, position) + 1
            raise ConfigError(f"{name}: expected entries NAME {{ module required ...; }}; from line {line} on")
        position = entry.end()
        entries[entry["name"]] = [module["module"] for module in _MODULE.finditer(entry["modules"])]
    return entries
