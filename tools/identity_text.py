"""Check that texts which say who a client is are trimmed, compared and decoded as Java does.

    python tools/identity_text.py [FILE ...]

Without files it checks the modules of GUARDED. docs/decisions/identity-comparison.md has the reasons.

| found | in its place, of security/java_text.py or re |
|---|---|
| strip, lstrip, rstrip, split without an argument; splitlines | trim, is_blank, split_list, split_trimmed |
| isspace, isdigit, isdecimal, isnumeric, isalpha, isalnum, casefold | is_decimal; an expression of ASCII |
| lower or upper in a comparison | equals_ignore_case |
| decode or encode with "replace" or "ignore" | decode_utf8; "backslashreplace" or "surrogatepass" |
| an expression with \\s, \\d, \\w or \\b | the same with re.ASCII |
| unicodedata, stringprep | nothing: Java does not normalize names |
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
# Folders and modules with names of users, tokens, certificates, ACLs, and configs of security.
GUARDED = (
    "security",
    "broker/security",
    "broker/handlers/security",
    "broker/config/config_types.py",
    "broker/config/connection_overrides.py",
    "broker/network/connection_quotas.py",
    "broker/requests/client_quotas.py",
    "broker/metadata/client_quota_control.py",
    "client/oauth_tokens.py",
    "client/security_properties.py",
    "client/token_properties.py",
)
# It is what the others use.
FUNCTIONS_OF_JAVA = "security/java_text.py"
WITHOUT_ARGUMENT = frozenset({"strip", "lstrip", "rstrip", "split", "rsplit"})
NEVER = frozenset(
    {"splitlines", "isspace", "isdigit", "isdecimal", "isnumeric", "isalpha", "isalnum", "casefold", "swapcase"}
)
IN_NO_COMPARISON = frozenset({"lower", "upper"})
LOSSY = frozenset({"replace", "ignore"})
COMPILERS = frozenset({"compile", "match", "search", "fullmatch", "sub", "split", "findall", "finditer"})
CLASSES = re.compile(r"(?<!\\)(?:\\\\)*\\[sSdDwWbB]")
MODULES = frozenset({"unicodedata", "stringprep"})


class Finding(NamedTuple):
    """A line that treats a text as Python does."""

    line: int
    problem: str


def main(arguments: Sequence[str]) -> int:
    """Check the files, and return the exit code."""
    files = [Path(each) for each in arguments] or list(guarded_files())
    lines = [f"{file}:{line}: {problem}" for file in files for line, problem in sorted(findings_in(file.read_text()))]
    print("".join(f"{line}\n" for line in lines), end="", file=sys.stderr)
    return int(lines != [])


def guarded_files() -> Iterator[Path]:
    """Yield the modules of GUARDED."""
    for name in GUARDED:
        path = ROOT / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            if file != ROOT / FUNCTIONS_OF_JAVA:
                yield file


def findings_in(source: str) -> Iterator[Finding]:
    """Yield what is found in the source of a module."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield from _findings_in_call(node, node.func.attr)
        elif isinstance(node, ast.Compare):
            yield from _findings_in_comparison(node)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = {node.module} if isinstance(node, ast.ImportFrom) else {each.name for each in node.names}
            yield from (Finding(node.lineno, f"{name} is imported") for name in MODULES & names)


def _findings_in_call(call: ast.Call, name: str) -> Iterator[Finding]:
    if name in WITHOUT_ARGUMENT and not call.args and not call.keywords:
        yield Finding(call.lineno, f"{name} without an argument")
    elif name in NEVER:
        yield Finding(call.lineno, f"{name} takes all of Unicode")
    elif name in ("decode", "encode"):
        values = [*call.args, *(keyword.value for keyword in call.keywords)]
        if any(isinstance(each, ast.Constant) and each.value in LOSSY for each in values):
            yield Finding(call.lineno, f"{name} makes different texts equal")
    elif name in COMPILERS and _is_of_re(call) and _has_class_of_unicode(call):
        yield Finding(call.lineno, "an expression with a class of Unicode, without re.ASCII")


def _is_of_re(call: ast.Call) -> bool:
    function = call.func
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "re"


def _has_class_of_unicode(call: ast.Call) -> bool:
    pattern, *others = call.args
    texts = [each.value for each in ast.walk(pattern) if isinstance(each, ast.Constant)]
    flags = [*others, *(keyword.value for keyword in call.keywords)]
    is_ascii = any(
        isinstance(each, ast.Attribute) and each.attr in ("A", "ASCII") for one in flags for each in ast.walk(one)
    )
    return not is_ascii and any(isinstance(text, str) and CLASSES.search(text) for text in texts)


def _findings_in_comparison(comparison: ast.Compare) -> Iterator[Finding]:
    for each in (comparison.left, *comparison.comparators):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in IN_NO_COMPARISON:
            yield Finding(each.lineno, f"{each.func.attr} in a comparison")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
