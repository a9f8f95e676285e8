"""The words of the running command, for a report that shows how to repeat it, and texts without secrets.

- Outputs, and options that limit what is found, are left out: the repeated command finds at least as much.
- Passwords, tokens and keys are replaced by "...", or left out where an environment variable can have them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

import click
from click.core import ParameterSource

_LEFT_OUT = frozenset(
    {
        *("json_file", "junit", "parquet", "html", "offsets_out", "by_partition"),
        *("since", "until", "baseline_place", "fail_on"),
        "journal_token",
    }
)
# Of both sides of a comparison, and of one.
_LEFT_OUT_ENDINGS = ("schema_registry_user",)
HIDDEN = "..."
# As spark.redaction.regex of Spark, and what Kafka's clients, drivers and stores call a secret. A name of two parts
# that has .key at its end is a column in SQL; one of three is an option, such as kafka.ssl.keystore.key.
_SECRET_NAME = (
    r"[^&;?=\s]*(?:secret|password|passwd|passphrase|pwd|token|credential|access.?key|account.?key|api.?key|jaas"
    r"|private|sas\.|\bsig(?:nature)?\b|\w\.[\w.-]+\.key\b)[^&;?=\s]*"
)
_SECRET = re.compile(rf"(?is)\A({_SECRET_NAME})=.*")
# The same as a parameter of an address.
_SECRET_PARAMETER = re.compile(rf"(?i)({_SECRET_NAME})=[^&;]*")
# The same in a sentence, in which the value ends with a word.
_SECRET_WORD = re.compile(rf"(?i)({_SECRET_NAME})=[^&;\s]*")
# USER:PASSWORD@ of a URL, and USER/PASSWORD@ of Oracle's driver.
_LOGIN = re.compile(r"(//)[^/\s]*@|(jdbc:[^/@\s]*:)[^:/@\s]*/[^@\s]*@")


def repeated_words(context: click.Context) -> tuple[str, ...]:
    """Return the name of a command with the given options and arguments, without secrets."""
    options: list[str] = []
    arguments: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in _LEFT_OUT or name.endswith(_LEFT_OUT_ENDINGS):
            continue
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value: object = context.params[name]
        if isinstance(parameter, click.Argument):
            arguments.append(without_secrets(str(value)))
        else:
            options += _option_words(parameter.opts[-1], value)
    separator = ["--"] if any(argument.startswith("-") for argument in arguments) else []
    return ("fauxka", str(context.info_name), *options, *separator, *arguments)


def _option_words(option: str, value: object) -> Iterator[str]:
    if value is True:
        yield option
        return
    # An option that can be given several times has a tuple of its values.
    values = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
    for one in values:
        yield option
        yield without_secrets(str(one))


def without_secrets(text: str) -> str:
    """Return an address or KEY=VALUE without passwords: HIDDEN in their place."""
    return _without_logins(_SECRET_PARAMETER.sub(rf"\1={HIDDEN}", _SECRET.sub(rf"\1={HIDDEN}", text)))


def message_without_secrets(message: str) -> str:
    """Return a message about options and places without passwords; the rest of the sentence stays."""
    return _without_logins(_SECRET_WORD.sub(rf"\1={HIDDEN}", message))


def _without_logins(text: str) -> str:
    return _LOGIN.sub(lambda found: f"{found[1] or found[2]}{HIDDEN}@", text)
