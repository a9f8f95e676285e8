"""Every API says what it demands of its clients."""

from fauxka.protocol.api_keys import APIS


def test_apis_that_are_open_to_every_client() -> None:
    assert {api.name for api in APIS.values() if api.authorization.is_open} == {
        "ApiVersions",
        "SaslAuthenticate",
        "SaslHandshake",
    }
