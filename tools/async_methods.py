"""Makes admin/async_methods of admin/methods: the same classes, whose methods are awaited.

    python tools/async_methods.py

- A class that derives from Methods, or from such a class, gets a twin with the prefix Async. Everything else that its
  module defines is imported from it.
- A call of `self`, or of what `self` has, is awaited; so is a call of a variable that is declared with such a class,
  and a property of the class that is itself awaited. A method with such a call is a coroutine.
- `with` methods become those of `async with`, and so does `with` in docstrings. admin/methods/twins.py has the marks of
  the exceptions.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE, TARGET = ROOT / "admin" / "methods", ROOT / "admin" / "async_methods"
# Written by hand, because they differ: how an operation is performed, and the handle of a rule before it is awaited.
BY_HAND = frozenset({"__init__.py", "base.py", "arming.py"})
# The class that all others derive from, and how it performs an operation.
BASE, SEND = "Methods", "Send"
# Each signature of a method with several is that of a coroutine: they all perform an operation.
OVERLOAD = "overload"
OF_WITH = {"__enter__": "__aenter__", "__exit__": "__aexit__"}
ONLY_BLOCKING, ARMS, HANDLE, ARMING = "blocking_only", "arms", "Rule", "Arming"
HEADER = '''"""{first}

Made of admin/methods/{name} by tools/async_methods.py: change that one.
"""

from __future__ import annotations

'''


def twins() -> dict[str, str]:
    """Return the text of each module of admin/async_methods that is made, by the name of its file."""
    sources = {path.name: ast.parse(path.read_text()) for path in sorted(SOURCE.glob("*.py"))}
    twinned = _twinned_classes(sources)
    made: dict[str, str] = {}
    for name, tree in sources.items():
        own = [node.name for node in tree.body if isinstance(node, ast.ClassDef) and node.name in twinned]
        if name not in BY_HAND and own:
            made[name] = _twin_of(name, tree, twinned)
    return _formatted(made)


def _twinned_classes(sources: dict[str, ast.Module]) -> frozenset[str]:
    """Return the names of all classes that derive from Methods."""
    classes = [node for tree in sources.values() for node in tree.body if isinstance(node, ast.ClassDef)]
    found = {BASE}
    while True:
        derived = {each.name for each in classes if any(_name_of(base) in found for base in each.bases)}
        if derived <= found:
            return frozenset({*found, SEND})
        found |= derived


def _name_of(base: ast.expr) -> str:
    node = base.value if isinstance(base, ast.Subscript) else base
    return node.id if isinstance(node, ast.Name) else ""


def _twin_of(name: str, tree: ast.Module, twinned: frozenset[str]) -> str:
    first = (ast.get_docstring(tree) or "").partition("\n")[0]
    body: list[ast.stmt] = []
    elsewhere: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name in twinned:
            body.append(_Twin(twinned, node).visit(node))
        elif isinstance(node, ast.ClassDef | ast.FunctionDef):
            elsewhere.append(node.name)
        elif isinstance(node, ast.Assign):
            elsewhere += [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif not isinstance(node, ast.Expr) and not _is_of_future(node):
            body.append(_Names(twinned).visit(node))
    if elsewhere:
        source = f"methods.{name.removesuffix('.py')}"
        body.insert(0, ast.ImportFrom(source, [ast.alias(each) for each in elsewhere], level=2))
    if any(isinstance(node, ast.Name) and node.id == ARMING for each in body for node in ast.walk(each)):
        body.insert(0, ast.ImportFrom("arming", [ast.alias(ARMING)], level=1))
    module = ast.fix_missing_locations(ast.Module(body, []))
    return HEADER.format(name=name, first=first) + ast.unparse(module) + "\n"


def _is_of_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


class _Names(ast.NodeTransformer):
    """Gives names their form for an event loop."""

    def __init__(self, twinned: frozenset[str]) -> None:
        self._twinned = twinned

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self._twinned:
            node.id = f"Async{node.id}"
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Turn methods.topics.Topics into async_methods.topics.AsyncTopics."""
        of_module = node.value
        if (
            node.attr in self._twinned
            and isinstance(of_module, ast.Attribute)
            and isinstance(of_module.value, ast.Name)
            and of_module.value.id == "methods"
        ):
            node.attr = f"Async{node.attr}"
            of_module.value.id = "async_methods"
            return node
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        """Import the twins from this package, and all else from where it is."""
        names = [each.name for each in node.names]
        if node.level == 1 and not any(each in self._twinned for each in names):
            node.level, node.module = 2, f"methods.{node.module}"
        elif node.level == 1:
            node.names = [ast.alias(f"Async{each}" if each in self._twinned else each) for each in names]
        elif "methods" in names:
            node.names.append(ast.alias("async_methods"))
        return node


class _Twin(_Names):
    """Makes the twin of one class."""

    def __init__(self, twinned: frozenset[str], of_class: ast.ClassDef) -> None:
        super().__init__(twinned)
        # The variables of the method that is visited which have the class of a twin.
        self._handles: frozenset[str] = frozenset()
        self._awaited = {
            each.name
            for each in of_class.body
            if isinstance(each, ast.FunctionDef) and _is_property(each) and _calls_self(each)
        }

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = [each for each in node.body if ONLY_BLOCKING not in _marks_of(each)]
        self.generic_visit(node)
        node.name = f"Async{node.name}"
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if ARMS in _marks_of(node):
            return self._arming(node)
        variables = [each for each in ast.walk(node) if isinstance(each, ast.AnnAssign)]
        self._handles = frozenset(
            _name_of(each.target) for each in variables if _name_of(each.annotation) in self._twinned
        )
        self.generic_visit(node)
        is_of_with = node.name in OF_WITH
        node.name = OF_WITH.get(node.name, node.name)
        is_overload = OVERLOAD in map(_name_of, node.decorator_list)
        if not is_of_with and not is_overload and not any(isinstance(each, ast.Await) for each in ast.walk(node)):
            return node
        fields = {name: getattr(node, name) for name in node._fields}
        return ast.AsyncFunctionDef(**fields)

    def _arming(self, node: ast.FunctionDef) -> ast.AST:
        """Return a method that returns an Arming of the coroutine that it would await."""
        node.decorator_list = []
        for each in ast.walk(node):
            if isinstance(each, ast.Return) and each.value is not None:
                each.value = ast.Call(ast.Name(ARMING), [each.value], [])
        node.returns = _arming_of_rule()
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        is_awaited = _is_of({"self"}, node.func) or _is_of(self._handles, node.func)
        self.generic_visit(node)
        return ast.Await(node) if is_awaited else node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """Turn `with` of a docstring into `async with`."""
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            node.value.value = async_text(node.value.value)
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        visited = super().visit_Attribute(node)
        is_property = isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr in self._awaited
        return ast.Await(node) if is_property else visited

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Turn RecipeMethods[Rule] into RecipeMethods[Arming]: a recipe returns what `add` returns."""
        if isinstance(node.value, ast.Name) and node.value.id == "RecipeMethods":
            node.slice = _arming_of_rule()
            return node
        return self.generic_visit(node)


def _arming_of_rule() -> ast.expr:
    return ast.Subscript(ast.Name(ARMING), ast.Name(f"Async{HANDLE}"))


def _marks_of(node: ast.stmt) -> list[str]:
    marks = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return [each.id for each in marks if isinstance(each, ast.Name)]


def _is_property(node: ast.FunctionDef) -> bool:
    return "property" in _marks_of(node)


def _calls_self(node: ast.FunctionDef) -> bool:
    return any(isinstance(each, ast.Call) and _is_of({"self"}, each.func) for each in ast.walk(node))


def _is_of(names: Collection[str], called: ast.expr) -> bool:
    """Whether a called expression is an attribute of one of these variables, or of an attribute of it."""
    if not isinstance(called, ast.Attribute):
        return False
    while isinstance(called, ast.Attribute):
        called = called.value
    return isinstance(called, ast.Name) and called.id in names


def async_text(docstring: str) -> str:
    """Return a docstring as the twin has it."""
    return docstring.replace("`with", "`async with").replace("a `async", "an `async")


def _formatted(made: dict[str, str]) -> dict[str, str]:
    """Return the modules without the imports that they do not use, formatted."""
    return {
        name: _with_ruff(_with_ruff(text, name, "check", "--fix-only", "--quiet"), name, "format")
        for name, text in made.items()
    }


def _with_ruff(text: str, name: str, *command: str) -> str:
    ruff = Path(sys.executable).with_name("ruff")
    arguments: list[str | Path] = [ruff, *command, "--stdin-filename", TARGET / name, "-"]
    done: subprocess.CompletedProcess[str] = subprocess.run(
        arguments, input=text, capture_output=True, text=True, check=True, cwd=ROOT
    )
    return done.stdout


def differing(made: dict[str, str]) -> Iterator[str]:
    """Yield the names of modules that are not as they are made."""
    names = {path.name for path in TARGET.glob("*.py")} - BY_HAND
    for name in sorted(names | made.keys()):
        path = TARGET / name
        if not path.exists() or path.read_text() != made.get(name):
            yield name


def main() -> None:
    """Write the modules, and delete those that have no source."""
    made = twins()
    for name in differing(made):
        if name in made:
            (TARGET / name).write_text(made[name])
        else:
            (TARGET / name).unlink()


if __name__ == "__main__":
    main()
