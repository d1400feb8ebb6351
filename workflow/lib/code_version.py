"""Which version of the code makes a result: a hash over the modules that a stage uses, and no others.

Imports are followed from file to file without running anything. Comments, docstrings and layout do not count.
Figures count for what imports them to draw, not for what offers to when it is asked (``Trajectory.plot``).
Where a package's ``__init__`` only passes names on, as that of ``icb`` does, the names that are really used lead
further, so that a change in one blur model leaves alone what does not blur.
"""

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PACKAGES = ("icb", "datasets", "workflow")
FIGURES = "icb.figures"

# What says who made a result, or how the work is shared out, does not change what comes out.
NEUTRAL = {"icb.version"} | {
    f"workflow.lib.{name}" for name in ("job", "manifest", "progress", "store", "units", "versions")
}


def code_version(*modules: str) -> str:
    """Hash of some modules and of everything in this project that they import."""
    digest = hashlib.sha256()
    for module in sorted(modules_behind(*modules)):
        digest.update(f"{module}\0{_content(module)}\0".encode())
    return digest.hexdigest()


def modules_behind(*modules: str) -> set[str]:
    """The modules whose code counts."""
    seen: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in seen and module not in NEUTRAL:
            seen.add(module)
            waiting += _imports(module)
    return seen


def _file(module: str) -> Path | None:
    place = ROOT.joinpath(*module.split("."))
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.is_file():
            return path
    return None


@cache
def _tree(module: str) -> ast.Module:
    path = _file(module)
    if path is None:
        raise ModuleNotFoundError(f"no module {module} in {ROOT}")
    tree = ast.parse(path.read_bytes(), str(path))
    _Strip().visit(tree)
    return tree


class _Strip(ast.NodeTransformer):
    """Takes away what never runs: docstrings, and imports for type checkers alone."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [part for part in body if not self._idle(part)] or [ast.Pass()]  # type: ignore[attr-defined]
        return super().generic_visit(node)

    @staticmethod
    def _idle(node: ast.AST) -> bool:
        if isinstance(node, ast.If):
            return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


@cache
def _content(module: str) -> str:
    return hashlib.sha256(ast.dump(_tree(module)).encode()).hexdigest()


@cache
def _imports(module: str) -> tuple[str, ...]:
    """Modules of this project that a module imports, anywhere in it."""
    tree = _tree(module)
    found: set[str] = set()
    plain: set[str] = set()
    offers = _offered_figures(tree)
    for node in ast.walk(tree):
        if node in offers:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] in PACKAGES:
                    if _is_hub(alias.name):
                        plain.add(alias.asname or alias.name)
                    else:
                        found.add(alias.name)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in PACKAGES:
            for alias in node.names:
                found.update(_resolve(node.module, alias.name))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in plain:
            found.update(_resolve(node.value.id, node.attr))
    path = _file(module)
    if path is not None and path.name == "__init__.py" and _loads_its_folder(tree):
        found.update(f"{module}.{entry.stem}" for entry in path.parent.glob("*.py") if entry.stem != "__init__")
    return tuple(sorted(found))


def _offered_figures(tree: ast.Module) -> set[ast.AST]:
    """Imports of figures inside a function: what draws all the time has them at its top."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    lazy = (node for function in functions for node in ast.walk(function) if isinstance(node, ast.ImportFrom))
    return {node for node in lazy if f"{node.module}.".startswith(f"{FIGURES}.")}


def _resolve(package: str, name: str) -> Iterator[str]:
    """The module that ``from package import name`` leads to."""
    if _file(f"{package}.{name}") is not None:
        yield f"{package}.{name}"
    elif _is_hub(package):
        yield from tuple(_origin(package, name)) or (package,)
    elif _file(package) is not None:
        yield package


@cache
def _is_hub(module: str) -> bool:
    """Whether a package's ``__init__`` only passes on names."""
    path = _file(module)
    if path is None or path.name != "__init__.py":
        return False
    return all(
        isinstance(node, ast.ImportFrom | ast.Import | ast.Assign | ast.Pass)
        or (isinstance(node, ast.FunctionDef) and node.name == "__getattr__")
        for node in _tree(module).body
    )


def _origin(package: str, name: str) -> Iterator[str]:
    for node in _tree(package).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    yield from _resolve(node.module, alias.name)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            yield from _origin(package, node.value.id) if name in names else ()


def _loads_its_folder(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "iter_modules" for node in ast.walk(tree))
