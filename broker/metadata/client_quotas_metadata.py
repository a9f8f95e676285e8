"""The field `client_quotas` of the metadata file."""

from __future__ import annotations

from ...protocol.error_codes import KafkaError
from .client_quota_control import addresses_of, check_alteration, is_address
from .client_quotas_image import CLIENT_ID, IP, USER, ClientQuotasImage
from .metadata_fields import Fields, any_text, items, json_object, wrong


def client_quotas_object(quotas: ClientQuotasImage) -> list[object]:
    """Return the JSON value of the field. A name that is null stands for the default entity of its type."""
    return [{"entity": dict(entity), "quotas": dict(values)} for entity, values in quotas]


def client_quotas_of(value: object, place: str) -> ClientQuotasImage:
    """Decode the field. Raises CorruptFileError."""
    quotas = ClientQuotasImage()
    for index, each in enumerate(items(value, place)):
        at = f"{place}[{index}]"
        fields = Fields(each, at, ("entity", "quotas"))
        try:
            # The name of a host may be unknown today.
            entity, changes = check_alteration(
                fields.decode("entity", _names), fields.decode("quotas", _limits), lambda _: True
            )
        except KafkaError as error:
            raise wrong(at, each, f"quotas that can be: {error.message}") from error
        if quotas.quotas_of(entity):
            raise wrong(f"{at}.entity", dict(entity), "an entity once")
        for key, limit in changes.items():
            quotas.set(entity, key, limit)
    hosts = [name for entity, _ in quotas for kind, name in entity if kind == IP and name and not is_address(name)]
    quotas.set_hosts({name: addresses_of(name) for name in hosts})
    return quotas


def _names(value: object, place: str) -> dict[str, str | None]:
    names = json_object(value, place)
    odd = next((kind for kind in names if kind not in (USER, CLIENT_ID, IP)), None)
    if odd is not None:
        raise wrong(place, odd, f"one of {USER}, {CLIENT_ID}, {IP}")
    return {kind: None if name is None else any_text(name, f"{place}.{kind}") for kind, name in names.items()}


def _limits(value: object, place: str) -> dict[str, float]:
    limits = {key: _number(limit, f"{place}.{key}") for key, limit in json_object(value, place).items()}
    if not limits:
        raise wrong(place, value, "one quota or more")
    return limits


def _number(value: object, place: str) -> float:
    # In Python bool is a subclass of int.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(place, value, "a number")
    return float(value)
