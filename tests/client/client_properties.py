"""Properties of Kafka's clients for a broker with throw-away certificates and the user alice."""

from pathlib import Path

from fauxka.broker.security.tls.throw_away_ca import CA_FILE, CLIENT_FILE

PASSWORD_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
MECHANISMS = (*PASSWORD_MECHANISMS, "OAUTHBEARER")
_PACKAGE = "org.apache.kafka.common.security"
_MODULES = {
    "PLAIN": f"{_PACKAGE}.plain.PlainLoginModule",
    "SCRAM-SHA-256": f"{_PACKAGE}.scram.ScramLoginModule",
    "SCRAM-SHA-512": f"{_PACKAGE}.scram.ScramLoginModule",
    "OAUTHBEARER": f"{_PACKAGE}.oauthbearer.OAuthBearerLoginModule",
}


def jaas_config(mechanism: str, **options: str) -> str:
    """Return sasl.jaas.config of a client."""
    return " ".join([_MODULES[mechanism], "required", *(f'{name}="{value}"' for name, value in options.items())]) + ";"


def sasl_properties(protocol: str, mechanism: str, *, user: str = "alice", password: str = "secret") -> dict[str, str]:
    """Return the properties for a user; of OAUTHBEARER with a token without a signature."""
    if mechanism == "OAUTHBEARER":
        jaas = jaas_config(mechanism, unsecuredLoginStringClaim_sub=user)
    else:
        jaas = jaas_config(mechanism, username=user, password=password)
    return {"security.protocol": protocol, "sasl.mechanism": mechanism, "sasl.jaas.config": jaas}


def tls_properties(folder: Path) -> dict[str, str]:
    """Return the properties that trust the authority in a folder of throw-away certificates."""
    return {
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(folder / CA_FILE),
    }


def certificate_properties(folder: Path) -> dict[str, str]:
    """Return the properties that also present the certificate of the client."""
    return {**tls_properties(folder), "ssl.keystore.type": "PEM", "ssl.keystore.location": str(folder / CLIENT_FILE)}


def properties_text(properties: dict[str, str]) -> str:
    """Return the content of a file for --command-config."""
    return "".join(f"{name}={value}\n" for name, value in properties.items())
