"""Python conditions on `version` and `flexible` for sets of versions, and code that chooses by them."""

from __future__ import annotations

from .definitions import Versions

INDENT = "    "


def ranges(versions: Versions) -> str:
    """Return the versions as text: "3-13", "4" or "0, 2-5"."""
    firsts = [version for version in sorted(versions) if version - 1 not in versions]
    lasts = [version for version in sorted(versions) if version + 1 not in versions]
    pairs = zip(firsts, lasts, strict=True)
    return ", ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in pairs)


def condition(wanted: Versions, domain: Versions, flexible: Versions) -> str | None:
    """Return a condition that is true for the wanted versions of the domain; None if all are wanted."""
    assert wanted and wanted <= domain, f"{wanted} of {domain}"
    if wanted == domain:
        return None
    if wanted == domain & flexible:
        return "flexible"
    if wanted == domain - flexible:
        return "not flexible"
    low, high = min(wanted), max(wanted)
    if not _is_one_range(wanted, domain):
        return f"version in {tuple(sorted(wanted))}"
    if low == high and min(domain) < low < max(domain):
        return f"version == {low}"
    if high == max(domain):
        return f"version >= {low}"
    if low == min(domain):
        return f"version <= {high}"
    return f"{low} <= version <= {high}"


def expression(cases: dict[str, Versions], flexible: Versions) -> str:
    """Return an expression that chooses the case of the version."""
    left = frozenset[int]().union(*cases.values())
    parts: list[str] = []
    for case, versions in _in_order(cases, left):
        wanted = condition(versions, left, flexible)
        case_in_context = f"({case})" if " if " in case and len(cases) > 1 else case
        parts.append(case_in_context if wanted is None else f"{case_in_context} if {wanted} else ")
        left -= versions
    return "".join(parts)


def statements(cases: dict[str, Versions], domain: Versions, flexible: Versions) -> list[str]:
    """Return lines that run the case of the version, and nothing in the other versions of the domain."""
    left = domain
    lines: list[str] = []
    for case, versions in _in_order(cases, domain):
        wanted = condition(versions, left, flexible)
        keyword = "elif" if lines else "if"
        if wanted is None:
            lines += ["else:", *indented(case.splitlines())] if lines else case.splitlines()
        else:
            lines += [f"{keyword} {wanted}:", *indented(case.splitlines())]
        left -= versions
    return lines


def indented(lines: list[str]) -> list[str]:
    """Return the lines one level deeper."""
    return [INDENT + line for line in lines]


def _in_order(cases: dict[str, Versions], domain: Versions) -> list[tuple[str, Versions]]:
    """Return the cases, newest first, those of several ranges last, because the last case needs no condition."""
    return sorted(cases.items(), key=lambda case: (_is_one_range(case[1], domain), max(case[1])), reverse=True)


def _is_one_range(versions: Versions, domain: Versions) -> bool:
    return all(version in versions for version in domain if min(versions) <= version <= max(versions))
