"""The field `security` of the metadata file: delegation tokens, and damage to them."""

import copy
from typing import Any

import pytest

from fauxka.broker.metadata.security_image import SecurityImage
from fauxka.broker.metadata.security_metadata import security_object, security_of
from fauxka.broker.security.delegation_token import DelegationToken
from fauxka.broker.security.principal import Principal
from fauxka.storage.corrupt_file import CorruptFileError

PLACE = "security"
TOKEN = DelegationToken(
    "id-of-the-token",
    Principal("alice"),
    Principal("bob"),
    (Principal("carol"), Principal("")),
    1_000,
    3_000,
    2_000,
)


def image_with_token() -> SecurityImage:
    security = SecurityImage()
    security.tokens[TOKEN.token_id] = TOKEN
    return security


def test_tokens_are_read_as_they_were_written() -> None:
    assert security_of(security_object(image_with_token()), PLACE) == image_with_token()


def test_file_without_the_field_has_no_tokens() -> None:
    written = security_object(SecurityImage())

    assert "delegation_tokens" not in written
    assert security_of(written, PLACE).tokens == {}


def damaged(path: str, value: object) -> object:
    """Return a field with another value at a path of keys and indexes."""
    written: Any = copy.deepcopy(security_object(image_with_token()))
    *parents, last = ["delegation_tokens", 0, *(int(key) if key.isdigit() else key for key in path.split("."))]
    at = written
    for key in parents:
        at = at[key]
    at[last] = value
    field: object = written
    return field


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("token_id", "", "a string that is not empty"),
        ("owner", "User:alice", "an object"),
        ("owner.name", 5, "a string"),
        ("requester.type", None, "a string"),
        ("renewers", {}, "a list"),
        ("renewers.1.name", [], "a string"),
        ("issue_ms", -1, "an integer from 0"),
        ("expiry_ms", "2000", "an integer from 0"),
        ("max_ms", 2**63, "an integer from 0"),
    ],
)
def test_wrong_value_is_named_with_its_place(path: str, value: object, expected: str) -> None:
    place = path.replace(".1.", "[1].")

    with pytest.raises(CorruptFileError) as raised:
        security_of(damaged(path, value), PLACE)

    assert f"security.delegation_tokens[0].{place} is " in str(raised.value)
    assert expected in str(raised.value)


def test_token_that_is_there_twice_is_refused() -> None:
    written: Any = security_object(image_with_token())
    written["delegation_tokens"] *= 2

    with pytest.raises(CorruptFileError, match=r"delegation_tokens\[1\]\.token_id is .* expected a token once"):
        security_of(written, PLACE)
