"""Joins the modules of the page into one script.

A browser loads it in one response instead of sixty, and a report has it in its file: a file:// page loads no modules.

- Each module becomes a function that is called once and returns the exports. A module comes after its imports. Names
  that are not exported stay the module's own.
- Only the forms that the page uses are read: `import { a, b } from "./x.js";` and `export` before `function`,
  `async function`, `class` or `const`. Any other import or export is an error, and so is a cycle of imports.
- A comment on a line of its own is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async function|function|class|const) (\w+))", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
_COMMENT = re.compile(r"^ *//[^\n]*\n|^ */\*\*(?:[^*]|\*(?!/))*\*/\n", re.MULTILINE)
# They end or change the state of a script element, wherever they are.
_ENDS_SCRIPT = re.compile(r"</script|<script|<!--", re.IGNORECASE)

_MODULES = "modules"


class JoinError(Exception):
    """A module cannot be joined. The message names it."""


def join_modules(sources: Mapping[str, str], entry: str) -> str:
    """Return the script that runs a module after its imports. sources: by file name. Raises JoinError."""
    joined: dict[str, str] = {}
    _join(sources, entry, joined, ())
    script = "\n".join(['"use strict";', f"const {_MODULES} = {{}};", *joined.values()])
    found = _ENDS_SCRIPT.search(script)
    if found is not None:
        raise JoinError(f"the script would end its element at {found.group()!r}")
    return script


def _join(sources: Mapping[str, str], name: str, joined: dict[str, str], importers: tuple[str, ...]) -> None:
    """Add a module to joined, after its imports."""
    if name in joined:
        return
    if name in importers:
        raise JoinError(f"the modules import each other: {' -> '.join([*importers, name])}")
    if name not in sources:
        raise JoinError(f"{importers[-1] if importers else 'the page'} imports {name}, which does not exist")
    source = sources[name]
    for _, imported in _IMPORT.findall(source):
        _join(sources, imported, joined, (*importers, name))
    joined[name] = _as_function(name, source)


def _as_function(name: str, source: str) -> str:
    """Return a module as a function that is called."""
    exported = [exported for _, exported in _EXPORT.findall(source)]
    body = _EXPORT.sub(r"\1", _IMPORT.sub(_as_constants, source))
    left = _OTHER.search(body)
    if left is not None:
        raise JoinError(f"{name}: cannot join {left.group()!r}")
    body = _COMMENT.sub("", body).strip()
    return f'{_MODULES}["{name}"] = (() => {{\n{body}\nreturn {{ {", ".join(exported)} }};\n}})();'


def _as_constants(statement: re.Match[str]) -> str:
    """Return the constants that an import stands for."""
    names = [name.strip().replace(" as ", ": ") for name in statement.group(1).split(",") if name.strip()]
    return f'const {{ {", ".join(names)} }} = {_MODULES}["{statement.group(2)}"];\n'
