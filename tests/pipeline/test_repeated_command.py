"""The words of a running command: what it was given, without outputs and secrets."""

import shlex
from collections.abc import Sequence

import click
import pytest

from fauxka.pipeline.audit_command import audit
from fauxka.pipeline.compare.compare_command import compare
from fauxka.pipeline.repeated_command import repeated_words, without_secrets

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
    ],
)
def test_secrets_are_hidden(text: str) -> None:
    assert SECRET not in without_secrets(text)


@pytest.mark.parametrize(
    "text", ["json:$.a.b", "s3://bucket/dir", "topic://h:9092/orders", "127.0.0.1:9092", "/data/a:b/c@d", "dbtable=t"]
)
def test_other_text_stays(text: str) -> None:
    assert without_secrets(text) == text
