"""The login probes whose answers differ on purpose, each with the reason."""

from __future__ import annotations

ON_PURPOSE: dict[str, str] = {
    "token: claims with trailing comma on SIGNED": "Kafka reads a comma behind the last member; docs/differences.md",
    **{
        f"certificate: {end} on UPPER": "A pattern with $ refuses a name that ends with a line; docs/differences.md"
        for end in ("carriage return", "tab and line feed")
    },
    "token: claims with escaped half of a surrogate on SIGNED": "Kafka writes a question mark; docs/differences.md",
}


def find_reason(name: str) -> str | None:
    """Return why fauxka's answer differs in a case; None if it must be equal. name: of the case and its listener."""
    return ON_PURPOSE.get(name)
