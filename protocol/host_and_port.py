"""Host and port in one text, as clients write them."""

from errno import EADDRNOTAVAIL


def address_text(host: str, port: int) -> str:
    """Return "host:port", with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def without_brackets(host: str) -> str:
    """Return the host of an option, whose IPv6 address may be in brackets."""
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def no_host_name() -> OSError:
    """Return the error for a UnicodeError of a lookup: a label of the name is empty, or has more than 63 characters."""
    return OSError(EADDRNOTAVAIL, "no valid host name")
