"""The words of a running command: what it was given, without outputs and secrets."""

import shlex
from collections.abc import Sequence

import click
import pytest

from fauxka.pipeline.audit_command import audit
from fauxka.pipeline.compare.compare_command import compare
from fauxka.pipeline.repeated_command import message_without_secrets, repeated_words, without_secrets

SECRET = "hunter2"


def repeated(command: click.Command, *arguments: str) -> Sequence[str]:
    with command.make_context(command.name, list(arguments)) as context:
        return repeated_words(context)


def test_options_and_arguments_are_repeated_and_defaults_are_not() -> None:
    given = ("--path", "a b", "--event-id", "json:$.id", "--empty-id-is-an-id", "--replica", "x", "--replica", "y")

    words = repeated(audit, *given)

    assert list(words[:2]) == ["fauxka", "audit"]
    assert sorted(words[2:]) == sorted(given)
    assert shlex.split(shlex.join(words)) == list(words)


def test_outputs_and_limits_are_left_out() -> None:
    limits = ("--since", "24h", "--until", "1h", "--baseline", "b.json", "--fail-on", "lost")
    outputs = ("--json", "j", "--junit", "u", "--html", "h", "--parquet", "p", "--offsets-out", "o")

    assert repeated(audit, "--bootstrap", "a:1", *limits, *outputs) == ("fauxka", "audit", "--bootstrap", "a:1")


def test_no_secret_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAUXKA_ADMIN_TOKEN", SECRET)

    words = repeated(
        audit,
        *("--journal-token", SECRET, "--schema-registry-user", f"u:{SECRET}"),
        *("--schema-registry", f"http://u:{SECRET}@h:1", "-c", f"spark.hadoop.fs.s3a.secret.key={SECRET}"),
        *("--path", f"s3://key:{SECRET}@bucket/log"),
    )

    assert SECRET not in shlex.join(words)
    assert "http://...@h:1" in words
    assert "spark.hadoop.fs.s3a.secret.key=..." in words


@pytest.mark.parametrize("command", [audit, compare], ids=["audit", "compare"])
def test_no_option_repeats_the_user_of_a_registry(command: click.Command) -> None:
    users = [option for one in command.params for option in one.opts if option.endswith("schema-registry-user")]
    places = ("--path", "a") if command is audit else ("a", "b")

    words = repeated(command, *places, *(word for option in users for word in (option, f"u:{SECRET}")))

    assert len(users) == (1 if command is audit else 3)
    assert SECRET not in shlex.join(words)
    assert not set(users) & set(words)


def test_passwords_of_a_table_are_not_repeated() -> None:
    table = f"jdbc:postgresql://db/shop?user=u&password={SECRET}&ssl=true"
    options = ("--right-option", f"password={SECRET}", "--right-option", "dbtable=orders")

    words = repeated(compare, "topic://a:1/t", table, *options)

    assert words == (
        *("fauxka", "compare", "--right-option", "password=...", "--right-option", "dbtable=orders"),
        *("topic://a:1/t", "jdbc:postgresql://db/shop?user=u&password=...&ssl=true"),
    )


def test_arguments_that_look_like_options_are_behind_a_separator() -> None:
    assert repeated(compare, "--", "-a", "b") == ("fauxka", "compare", "--", "-a", "b")


@pytest.mark.parametrize(
    "text",
    [
        f"password={SECRET}&b=c://x",
        f"kafka.sasl.jaas.config=Module required\nusername=u password={SECRET};",
        f"url=jdbc:sqlserver://h;user=u;password={SECRET} x;encrypt=true",
        f"jdbc:oracle:thin:scott/{SECRET}@//h:1/x",
        f"http://{SECRET}@h",
        f"http://u:a@{SECRET}@h",
        f"fs.azure.account.key.x={SECRET}",
        f"kafka.ssl.keystore.key=-----BEGIN KEY-----\n{SECRET}\n-----END KEY-----",
        f"spark.hadoop.fs.s3a.encryption.key={SECRET}",
        f"jdbc:snowflake://h/?private_key_file=k&passphrase={SECRET}",
        f"https://h/container?sp=r&sig={SECRET}&sv=1",
        f"https://h/bucket?X-Amz-Signature={SECRET}",
    ],
)
def test_secrets_are_hidden(text: str) -> None:
    assert SECRET not in without_secrets(text)


@pytest.mark.parametrize(
    "text",
    [
        "json:$.a.b",
        "s3://bucket/dir",
        "topic://h:9092/orders",
        "127.0.0.1:9092",
        "/data/a:b/c@d",
        "dbtable=t",
        "r.key=5",
        "design=x",
    ],
)
def test_other_text_stays(text: str) -> None:
    assert without_secrets(text) == text


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (
            f"right-option: jdbc:postgresql://bob:{SECRET}@h/db?password={SECRET} needs dbtable=TABLE",
            "right-option: jdbc:postgresql:...@h/db?password=... needs dbtable=TABLE",
        ),
        (f"right: jdbc:oracle:thin:scott/{SECRET}@//h:1/x cannot be read", "jdbc:oracle:thin:...@//h:1/x"),
        ("where: r.key=5 must be true or false, not int", "where: r.key=5 must be true or false, not int"),
    ],
)
def test_a_message_has_no_secret_and_keeps_its_sentence(message: str, shown: str) -> None:
    hidden = message_without_secrets(message)

    assert SECRET not in hidden
    assert shown in hidden
