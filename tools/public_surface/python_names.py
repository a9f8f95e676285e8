"""The public names of fauxka.testing and fauxka.testcontainers, and of what their methods return."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from enum import Enum
from functools import cache, cached_property
from importlib import import_module
from types import ModuleType
from typing import ForwardRef, cast, get_overloads

PACKAGE = "fauxka"
# Their members are those of the classes without the prefix, with `await`; tests/tools/test_async_methods.py compares.
AWAITED = "Async"
# The inside of the broker, for its own thread; docs/python.md does not have it.
INNER = frozenset({"Control"})
NAMES = re.compile(r"[A-Za-z_][\w.]*")

Entries = dict[str, str]


def python_entries() -> Entries:
    """Return the signature or type of each public name, by the name."""
    testing = import_module(f"{PACKAGE}.testing")
    public = [f"{testing.__name__}.{name}" for name in testing.__all__]
    containers = import_module(f"{PACKAGE}.testcontainers")
    waiting = {name: _object_of(name) for name in [*public, f"{containers.__name__}.FauxkaContainer"]}
    entries: Entries = {}
    seen: set[object] = set()
    while waiting:
        name, found = waiting.popitem()
        if not isinstance(found, type):
            entries[name] = _signature(found)
            continue
        assert name not in entries, f"two public classes have the name {name}"
        seen.add(found)
        entries[name] = _describe_class(found)
        if found.__name__.startswith(AWAITED):
            continue
        for member, detail, returned in _members(found):
            entries[f"{name}.{member}"] = detail
            for other in returned:
                if other not in seen and other not in waiting.values():
                    waiting[f"{other.__module__.rpartition('.')[2]}.{other.__name__}"] = other
    return entries


def _object_of(name: str) -> object:
    module, _, attribute = name.rpartition(".")
    return cast("object", getattr(import_module(module), attribute))


def _describe_class(found: type) -> str:
    bases = ", ".join(base.__name__ for base in found.__bases__ if base is not object)
    kind = f"class({bases})" if bases else "class"
    # Records are made of their fields, which are members.
    is_record = any(mark in vars(found) for mark in ("__dataclass_fields__", "__struct_fields__", "__match_args__"))
    has_constructor = not is_record and any("__init__" in vars(base) for base in found.__mro__ if _is_ours(base))
    return f"{kind} {_signature(found)}" if has_constructor else kind


def _members(found: type) -> Iterator[tuple[str, str, list[type]]]:
    """Yield each public member with its signature or type, and the public classes that it returns."""
    own = [base for base in reversed(found.__mro__) if _is_ours(base)]
    for base in own:
        annotations: dict[str, object] = inspect.get_annotations(base)
        for name, annotation in annotations.items():
            if not name.startswith("_"):
                text = _text_of(annotation)
                yield name, text, _classes_in(text, base)
        for name, value in vars(base).items():
            if not name.startswith("_") and name not in annotations and (detail := _detail(found, value)) is not None:
                yield name, detail, _classes_in(detail.rpartition("->")[2], base)


def _detail(owner: type, value: object) -> str | None:
    """Return the signature or type of a member; None for what is no part of the surface."""
    match value:
        case property():
            return f"-> {_returned(value.fget)}"
        case cached_property():
            return f"-> {_returned(cast('cached_property[object]', value).func)}"
        case staticmethod() | classmethod():
            return _signature(cast("staticmethod[..., object]", value).__func__)
        case Enum():
            return repr(value.value)
        case _ if inspect.isfunction(value):
            overloads = get_overloads(value) or [value]
            return " | ".join(_signature(each) for each in overloads)
        case str() | int() | float() if not issubclass(owner, Enum):
            return repr(value)
        case _:
            return None


def _text_of(annotation: object) -> str:
    """Return a type as it is written. The fields of a named tuple have references, not text."""
    return annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else str(annotation)


def _returned(function: object) -> str:
    return str(getattr(function, "__annotations__", {}).get("return", ""))


def _signature(found: object) -> str:
    """Return the signature with the types as they are written, without self."""
    if not callable(found):
        return type(found).__name__
    try:
        signature = inspect.signature(found)
    except ValueError:
        return "(...)"
    parameters = [
        each.replace(annotation=_text_of(each.annotation)) if each.annotation is not each.empty else each
        for each in signature.parameters.values()
        if each.name not in ("self", "cls")
    ]
    text = str(signature.replace(parameters=parameters))
    # Annotations are text here, which is quoted in a signature.
    return re.sub(r"<factory>|<object object at \w+>", "...", text).replace("'", "")


def _classes_in(annotation: str, owner: type) -> list[type]:
    """Return the public classes of this package that an annotation names in the module of its owner."""
    module = import_module(owner.__module__)
    found = [_resolve(name, module) for name in NAMES.findall(annotation)]
    classes = [each for each in found if isinstance(each, type) and _is_ours(each)]
    return [each for each in classes if not each.__name__.startswith("_") and each.__name__ not in INNER]


def _resolve(name: str, module: ModuleType) -> object:
    first, *rest = name.split(".")
    found: object = vars(module).get(first) or _imported_for_types(first, module.__name__)
    for attribute in rest:
        found = getattr(found, attribute, None)
    return found


def _imported_for_types(name: str, module: str) -> object:
    """Return what a module imports for type checkers only; None for another name."""
    source = _import_sources(module).get(name)
    return None if source is None else cast("object", getattr(import_module(source), name, None))


@cache
def _import_sources(module: str) -> dict[str, str]:
    """Return the module that each name is imported from."""
    found = import_module(module)
    package = found.__package__ or module
    sources: dict[str, str] = {}
    for node in ast.walk(ast.parse(inspect.getsource(found))):
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith(PACKAGE)):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*base, node.module] if node.module else base)
            sources |= {alias.asname or alias.name: source for alias in node.names}
    return sources


def _is_ours(found: type) -> bool:
    return found.__module__.partition(".")[0] == PACKAGE
