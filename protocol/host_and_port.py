"""Host and port in one text, as clients write them."""


def address_text(host: str, port: int) -> str:
    """Return "host:port", with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def without_brackets(host: str) -> str:
    """Return the host of an option, whose IPv6 address may be in brackets."""
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host
