"""The field `security` of the metadata file: ACLs, SCRAM credentials and delegation tokens.

Its field delegation_tokens is left out without a token, so that releases without delegation tokens read the file.
"""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from enum import IntEnum
from typing import TypeVar

from ...protocol.acl_types import AclOperation, AclPermission, PatternType, ResourceType
from ...protocol.error_codes import KafkaError
from ..security.acl.acls import AclBinding
from ..security.delegation_token import DelegationToken
from ..security.principal import Principal
from ..security.sasl.scram import SCRAM_HASHES, ScramCredential, ScramHash
from .acl_control import check_acl
from .metadata_fields import Fields, any_text, integer_up_to, items, json_object, text_not_empty, wrong
from .security_image import SecurityImage

_KEYS = ("salt", "stored_key", "server_key")
_TOKENS = "delegation_tokens"
_TIMES = ("issue_ms", "max_ms", "expiry_ms")
_INT32_MAX = 2**31 - 1
_INT64_MAX = 2**63 - 1

Word = TypeVar("Word", bound=IntEnum)


def security_object(security: SecurityImage) -> dict[str, object]:
    """Return the JSON value of the field."""
    tokens = {_TOKENS: [_token_object(token) for token in security.tokens.values()]} if security.tokens else {}
    return {
        "acls": [
            {name: value.name if isinstance(value, IntEnum) else value for name, value in acl._asdict().items()}
            for acl in security.acls
        ],
        "scram_credentials": [
            {
                "user": user,
                "mechanism": hash_.mechanism,
                "iterations": credential.iterations,
                **{name: b64encode(getattr(credential, name)).decode() for name in _KEYS},
            }
            for (hash_, user), credential in security.credentials.items()
        ],
        **tokens,
    }


def _token_object(token: DelegationToken) -> dict[str, object]:
    return {
        "token_id": token.token_id,
        "owner": token.owner._asdict(),
        "requester": token.requester._asdict(),
        "renewers": [renewer._asdict() for renewer in token.renewers],
        **{name: getattr(token, name) for name in _TIMES},
    }


def security_of(value: object, place: str) -> SecurityImage:
    """Decode the field. Raises CorruptFileError."""
    has_tokens = _TOKENS in json_object(value, place)
    fields = Fields(value, place, ("acls", "scram_credentials", *((_TOKENS,) if has_tokens else ())))
    security = SecurityImage()
    for index, each in enumerate(fields.decode("acls", items)):
        security.acls.add(_acl_of(each, f"{place}.acls[{index}]"))
    for index, each in enumerate(fields.decode("scram_credentials", items)):
        at = f"{place}.scram_credentials[{index}]"
        key, credential = _credential_of(each, at)
        if key in security.credentials:
            raise wrong(f"{at}.user", key[1], "a user once for each mechanism")
        security.credentials[key] = credential
    for index, each in enumerate(fields.decode(_TOKENS, items) if has_tokens else ()):
        at = f"{place}.{_TOKENS}[{index}]"
        token = _token_of(each, at)
        if token.token_id in security.tokens:
            raise wrong(f"{at}.token_id", token.token_id, "a token once")
        security.tokens[token.token_id] = token
    return security


def _acl_of(value: object, place: str) -> AclBinding:
    fields = Fields(value, place, AclBinding._fields)

    def word(name: str, words: type[Word]) -> Word:
        text = fields.decode(name, any_text)
        if text not in words.__members__:
            raise wrong(f"{place}.{name}", text, f"one of {', '.join(words.__members__)}")
        return words[text]

    acl = AclBinding(
        word("resource_type", ResourceType),
        fields.decode("name", text_not_empty),
        word("pattern_type", PatternType),
        fields.decode("principal", text_not_empty),
        fields.decode("host", text_not_empty),
        word("operation", AclOperation),
        word("permission", AclPermission),
    )
    try:
        check_acl(acl)
    except KafkaError as error:
        raise wrong(place, value, f"an ACL that can be: {error.message}") from error
    return acl


def _credential_of(value: object, place: str) -> tuple[tuple[ScramHash, str], ScramCredential]:
    fields = Fields(value, place, ("user", "mechanism", "iterations", *_KEYS))
    mechanism = fields.decode("mechanism", any_text)
    if mechanism not in SCRAM_HASHES:
        raise wrong(f"{place}.mechanism", mechanism, f"one of {', '.join(SCRAM_HASHES)}")
    salt, stored_key, server_key = (fields.decode(name, _bytes) for name in _KEYS)
    credential = ScramCredential(
        salt, stored_key, server_key, fields.decode("iterations", integer_up_to(1, _INT32_MAX))
    )
    return (SCRAM_HASHES[mechanism], fields.decode("user", text_not_empty)), credential


def _token_of(value: object, place: str) -> DelegationToken:
    fields = Fields(value, place, ("token_id", "owner", "requester", "renewers", *_TIMES))
    renewers = fields.decode("renewers", items)
    issue_ms, max_ms, expiry_ms = (fields.decode(name, integer_up_to(0, _INT64_MAX)) for name in _TIMES)
    return DelegationToken(
        fields.decode("token_id", text_not_empty),
        fields.decode("owner", _principal_of),
        fields.decode("requester", _principal_of),
        tuple(_principal_of(each, f"{place}.renewers[{index}]") for index, each in enumerate(renewers)),
        issue_ms,
        max_ms,
        expiry_ms,
    )


def _principal_of(value: object, place: str) -> Principal:
    fields = Fields(value, place, Principal._fields)
    return Principal(fields.decode("name", any_text), fields.decode("type", any_text))


def _bytes(value: object, place: str) -> bytes:
    # The value itself is as good as a password, and stays out of the message.
    try:
        return b64decode(any_text(value, place), validate=True)
    except (binascii.Error, ValueError) as error:
        raise wrong(place, "...", "base64") from error
