"""JAAS configs: files of entries, the options of a login module, and the users of PLAIN: user_NAME="password"."""

from __future__ import annotations

import re

from .. import ConfigError
from .java_text import SPACE

JAAS_CONFIG = "sasl.jaas.config"
PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
OAUTHBEARER_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
# White space of java.io.StreamTokenizer; a no-break space is a letter.
_SPACE = r"[\0- ]"
_CONFIG = re.compile(
    rf"{_SPACE}*(?P<module>[\w.]+){_SPACE}+(?i:required)\b(?P<options>.*);{_SPACE}*", re.DOTALL | re.ASCII
)
# A text in quotes of either kind (org.apache.kafka.common.security.JaasConfig).
_TEXT = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
_OPTION = re.compile(
    rf"""{_SPACE}*(?P<name>{_TEXT}|[^\0- ="';]+){_SPACE}*={_SPACE}*(?P<value>{_TEXT}|[^\0- ;"']+)""", re.DOTALL
)
_ESCAPE = re.compile(r"\\([0-3][0-7]{0,2}|[4-7][0-7]?|.)", re.DOTALL)
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_USER_PREFIX = "user_"
_QUOTES = ('"', "'")
_TEXT_OR_COMMENT = re.compile(rf"{_TEXT}|//[^\n]*|/\*.*?\*/", re.DOTALL)
_ENTRY = re.compile(
    rf"""{_SPACE}*(?P<name>[^\x00-\x20{{}}"';]+){_SPACE}*\{{(?P<modules>(?:{_TEXT}|[^"'{{}}])*)\}}{_SPACE}*;{_SPACE}*""",
    re.DOTALL,
)
_MODULE = re.compile(rf"""{_SPACE}*(?P<module>(?:{_TEXT}|[^"';])+;)""", re.DOTALL)


def parse_jaas_options(text: str, module: str, key: str) -> dict[str, str]:
    """Return the options of a login module.

    module: its class, of which the package may be missing. key: for the message.
    Raises ConfigError, whose message does not have the text, because that has passwords.
    """
    match = _CONFIG.fullmatch(text)
    if match is None or match["module"].rpartition(".")[2] != module.rpartition(".")[2]:
        raise ConfigError(f'{key}: expected "{module} required ...;"')
    found: dict[str, str] = {}
    options, position = match["options"].rstrip(SPACE), 0
    while position < len(options):
        option = _OPTION.match(options, position)
        if option is None:
            raise ConfigError(f'{key}: expected options name="value" after "required"')
        position = option.end()
        found[_text_of(option["name"])] = _text_of(option["value"])
    return found


def _text_of(part: str) -> str:
    """Return what a name or value stands for: in quotes it may have the escapes of java.io.StreamTokenizer."""
    if not part.startswith(_QUOTES):
        return part
    return _ESCAPE.sub(lambda found: _character(found[1]), part[1:-1])


def _character(escape: str) -> str:
    return chr(int(escape, 8)) if escape[0] in "01234567" else _ESCAPED.get(escape, escape)


def parse_jaas_users(text: str, key: str) -> dict[str, str]:
    """Return the password of each user of PLAIN. Raises ConfigError, see parse_jaas_options."""
    options = parse_jaas_options(text, PLAIN_MODULE, key)
    return {name.removeprefix(_USER_PREFIX): value for name, value in options.items() if name.startswith(_USER_PREFIX)}


def parse_jaas_file(text: str, name: str) -> dict[str, list[str]]:
    """Return the login modules by entry, `NAME {module required option="value"; ...};`, each as a config of its own.

    name: of the file, for the message. Raises ConfigError, whose message does not have the text; that has passwords.
    """
    code = _TEXT_OR_COMMENT.sub(lambda found: found[0] if found[0].startswith(_QUOTES) else " ", text).rstrip(SPACE)
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
