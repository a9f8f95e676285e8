"""Write the tables of docs/configuration.md from the keys that the broker knows.

    python tools/generate_config_page.py [--check]

What stands between the two marks is written, the rest of the page is by hand. With --check nothing is written, and a
page that is not up to date ends in exit code 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from fauxka.broker.config.broker_config import TOPIC_KEYS_WITHOUT_EFFECT, keys_with_effect
from fauxka.broker.config.config_keys import BROKER_KEYS, TOPIC_KEYS, ConfigKey, ConfigType

PAGE = Path(__file__).resolve().parent.parent / "docs" / "configuration.md"
BEGIN = "<!-- begin of what tools/generate_config_page.py writes -->\n"
END = "<!-- end of what tools/generate_config_page.py writes -->\n"


def main() -> int:
    """Run as the command line asks."""
    parser = argparse.ArgumentParser(description="write the tables of docs/configuration.md")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    before = PAGE.read_text()
    after = with_tables(before, tables())
    if arguments.check:
        if before != after:
            print("docs/configuration.md is not up to date: run tools/generate_config_page.py", file=sys.stderr)
        return int(before != after)
    PAGE.write_text(after)
    return 0


def with_tables(page: str, text: str) -> str:
    """Return page with text between the marks."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}{text}{END}{tail}"


def tables() -> str:
    """Return the tables as Markdown."""
    effective = keys_with_effect()
    with_effect = [key for name, key in BROKER_KEYS.items() if name in effective]
    idle = [name for name, key in BROKER_KEYS.items() if name not in effective and not key.is_internal]
    parts = [
        "\n## Keys of the broker that have an effect\n\n",
        table(with_effect),
        "\n## Keys of a topic\n\n",
        table(TOPIC_KEYS.values()),
        "\nTaken and shown, and without effect: ",
        ", ".join(f"`{name}`" for name in sorted(TOPIC_KEYS_WITHOUT_EFFECT)),
        ".\n",
        "\n## Keys of the broker that are taken and have no effect\n\n",
        f"{len(idle)} keys: ",
        ", ".join(f"`{name}`" for name in idle),
        ".\n",
    ]
    return "".join(parts)


def table(keys: Iterable[ConfigKey]) -> str:
    """Return one table, a key a row."""
    rows = [
        f"| `{key.name}` | {key.config_type.name.lower()} | {default_of(key)} | {allowed(key)} | {source_of(key)} |\n"
        for key in keys
        if not key.is_internal or key.name.startswith("producer.")
    ]
    return "| key | type | default | allowed | default comes from |\n|---|---|---|---|---|\n" + "".join(rows)


def default_of(key: ConfigKey) -> str:
    """Return the default for a reader."""
    if key.default is None:
        return "none"
    return f"`{key.default}`" if key.default else "empty"


def allowed(key: ConfigKey) -> str:
    """Return for a reader what the key's validation allows."""
    kind, _, rest = key.validation.partition(" ")
    match kind:
        case "range":
            low, high = rest.split(" ")
            return f"{low} to {high}" if high != "-" else f"at least {low}"
        case "in" | "in_any_case":
            return ", ".join(rest.split(","))
        case "list":
            values = rest.partition("in:")[2]
            return f"any of {', '.join(values.split(','))}" if values else ""
        case "other":
            return rest
        case _:
            return "true, false" if key.config_type is ConfigType.BOOLEAN else ""


def source_of(key: ConfigKey) -> str:
    """Return the broker keys that a topic key takes its default from."""
    return ", ".join(f"`{synonym.name}`" for synonym in key.synonyms)


if __name__ == "__main__":
    sys.exit(main())
