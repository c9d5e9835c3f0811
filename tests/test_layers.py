"""The layering of docs/architecture.md, read from the source: who may import and name what."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "gitgate"
FILES = sorted(PACKAGE.rglob("*.py"))
MAX_LINES = 400

LAYERS: dict[str, set[str]] = {
    "errors": set(),
    "process": {"errors"},
    "core": {"errors"},
    "signing": {"core", "process", "errors"},
    "git": {"core", "process", "errors"},
    "app": {"core", "git", "signing", "process", "errors"},
    "ui": {"core", "process", "errors"},
    "github": {"app", "core", "errors"},
    "mcp": {"app", "core", "errors"},
    "hooks": {"app", "core", "errors", "hookguards"},
    "hookguards": {"errors"},
}
LAYERS["cli"] = {*LAYERS}

# Where a library may be imported: a folder (ends in "/") or a file of the package.
LIBRARIES = {
    "apprise": ["app/telling/notifying.py"],
    "click": ["cli/"],
    "cryptography": ["signing/"],
    "pygit2": ["git/"],
    "rich": ["ui/", "cli/"],
    "unidiff": ["core/change.py"],
    "yaml": ["core/policyyaml.py", "core/yamltext.py"],
}

# The same for parts of the standard library; "core" is named nowhere: it has no files, clock,
# chance, terminal or environment.
RESTRICTED = {
    "subprocess": ["process.py"],
    "multiprocessing": [],
    "pty": [],
    "importlib": ["cli/"],
    "pickle": [],
    "pathlib": [
        *("git/", "signing/", "app/", "ui/", "github/", "cli/"),
        *("process.py", "hooks.py", "hookguards.py"),
    ],
}
for _name in ("os", "time", "tempfile", "shutil", "random", "secrets", "socket", "io", "locale"):
    RESTRICTED[_name] = RESTRICTED["pathlib"] + ["mcp.py", "mcp/"]
RESTRICTED["sys"] = ["cli/", "ui/", "mcp.py", "mcp/"]

# Names that are reached by an attribute or a call, and where they may be.
NAMES = {
    "os.environ": ["process.py", "git/discovery.py", "cli/env.py", "cli/main.py"],
    "os.getenv": [],
    "os.environb": [],
    "os.putenv": [],
    "os.system": [],
    "os.popen": [],
    "os.fork": [],
    "os._exit": [],
    "sys.exit": ["cli/"],
    "SystemExit": ["cli/"],
    "print": ["cli/"],
    "input": [],
    "eval": [],
    "exec": [],
    "__import__": [],
    "datetime.now": ["app/", "cli/"],
    "datetime.today": [],
    "datetime.utcnow": [],
    "date.today": [],
}
_STARTS_A_PROCESS = ("os.exec", "os.spawn", "os.posix_spawn", "asyncio.create_subprocess")


def where(file: Path) -> str:
    return file.relative_to(PACKAGE).as_posix()


def module(place: str) -> str:
    """The dotted name of the module at `place`."""
    return ".".join(["gitgate", *Path(place).with_suffix("").parts]).removesuffix(".__init__")


MODULES = {module(where(file)) for file in FILES}


def layer(name: str) -> str | None:
    """The layer of a module; None for the package itself, which everybody may import."""
    parts = name.split(".")
    if len(parts) < 2:
        return None
    return "cli" if parts[1] == "__main__" else parts[1]


def is_at(place: str, allowed: list[str]) -> bool:
    return any(place == one or (one.endswith("/") and place.startswith(one)) for one in allowed)


def imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Each imported module with its line; for `from package import module` that module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield node.lineno, "." * node.level + (node.module or "")
                continue
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield node.lineno, full if full in MODULES else str(node.module)


def objection_to_import(place: str, imported: str) -> str:
    """What is wrong with an import of `imported` in the file at `place`; empty: nothing."""
    top = imported.split(".")[0]
    if imported.startswith("."):
        return "a relative import"
    if top == "gitgate":
        target, own = layer(imported), layer(module(place))
        if target is None or target == own:
            return ""
        allowed = LAYERS.get(own or "", set())
        return "" if target in allowed else f"{own or 'the package'} may not import {target}"
    if top in LIBRARIES:
        return "" if is_at(place, LIBRARIES[top]) else f"{top} is not for this module"
    if top not in sys.stdlib_module_names:
        return f"{top} is no library of this project"
    return "" if is_at(place, RESTRICTED.get(top, [place])) else f"{top} is not for this module"


def dotted(node: ast.AST) -> str:
    """`a.b.c` of an expression that is just that, else empty."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return ""


def uses(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Names as they are used, also those that a `from` import brings in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute):
            yield node.lineno, dotted(node)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def objection_to_name(place: str, name: str) -> str:
    if name.startswith(_STARTS_A_PROCESS):
        return f"{name} is for nobody"
    allowed = NAMES.get(name)
    return "" if allowed is None or is_at(place, allowed) else f"{name} is not for this module"


def complaints(place: str, source: str) -> list[str]:
    """All that is wrong with a file, by line."""
    tree = ast.parse(source)
    found = [(line, objection_to_import(place, name)) for line, name in imports(tree)]
    found += [(line, objection_to_name(place, name)) for line, name in uses(tree)]
    return [f"{place}:{line}: {text}" for line, text in sorted(set(found)) if text]


def test_each_module_imports_and_names_what_it_may() -> None:
    assert len(FILES) > 5
    found = [text for file in FILES for text in complaints(where(file), file.read_text("utf-8"))]
    assert not found, "\n".join(found)


def test_every_module_belongs_to_a_layer() -> None:
    unknown = {layer(name) for name in MODULES} - {*LAYERS, None}
    assert not unknown


def test_the_package_itself_imports_nothing() -> None:
    assert not [*imports(ast.parse((PACKAGE / "__init__.py").read_text("utf-8")))]


@pytest.mark.parametrize("folder", ["gitgate", "tests"])
def test_files_are_short(folder: str) -> None:
    long = {
        str(file.relative_to(ROOT)): lines
        for file in (ROOT / folder).rglob("*.py")
        if (lines := len(file.read_text("utf-8").splitlines())) >= MAX_LINES
    }
    assert not long


def test_test_files_have_names_of_their_own() -> None:
    names = [file.name for file in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


def runtime_imports(file: Path) -> set[str]:
    """The project's modules that a module imports, in functions too; not those for types only."""
    tree = ast.parse(file.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and dotted(node.test).endswith("TYPE_CHECKING"):
            node.body = []
    return {name for _, name in imports(tree) if name in MODULES}


def graph() -> Mapping[str, set[str]]:
    return {module(where(file)): runtime_imports(file) for file in FILES}


def test_no_module_imports_itself_by_a_detour() -> None:
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


def test_mcp_does_not_reach_where_a_person_decides() -> None:
    known = graph()
    reached: set[str] = set()
    todo = {name for name in known if layer(name) == "mcp"}
    while todo:
        reached |= todo
        todo = set().union(*(known[name] for name in todo)) - reached
    assert not {name for name in reached if name.startswith("gitgate.app.decid")}


@pytest.mark.parametrize(
    ("place", "source", "words"),
    [
        ("core/new.py", "import pygit2", "pygit2 is not for"),
        ("core/new.py", "def f():\n import yaml.nodes", "yaml is not for"),
        ("core/new.py", "from gitgate import process", "core may not import process"),
        ("core/new.py", "from gitgate.git.refs import read", "core may not import git"),
        ("core/new.py", "from os import path", "os is not for"),
        ("core/new.py", "import time", "time is not for"),
        ("core/new.py", "x = datetime.now(UTC)", "datetime.now is not for"),
        ("core/new.py", "from . import ids", "a relative import"),
        ("git/new.py", "from gitgate.app import world", "git may not import app"),
        ("git/new.py", "import subprocess", "subprocess is not for"),
        ("app/new.py", "import gitgate.cli.main", "app may not import cli"),
        ("app/new.py", "from gitgate.ui import panel", "app may not import ui"),
        ("app/new.py", "os.environ['X']", "os.environ is not for"),
        ("app/new.py", "from os import environ", "os.environ is not for"),
        ("app/new.py", "os.execvp('x', [])", "os.execvp is for nobody"),
        ("app/new.py", "print(1)", "print is not for"),
        ("app/new.py", "raise SystemExit(1)", "SystemExit is not for"),
        ("app/new.py", "from sys import exit", "sys.exit is not for"),
        ("ui/new.py", "from gitgate.git import refs", "ui may not import git"),
        ("hooks.py", "from gitgate.git import refs", "hooks may not import git"),
        ("mcp.py", "from gitgate.ui import panel", "mcp may not import ui"),
        ("errors.py", "from gitgate.core import ids", "errors may not import core"),
        ("__init__.py", "from gitgate.core import ids", "the package may not import core"),
        ("cli/new.py", "import requests", "requests is no library"),
        ("strange/new.py", "from gitgate.core import ids", "strange may not import core"),
    ],
)
def test_a_forbidden_one_is_found(place: str, source: str, words: str) -> None:
    assert any(words in text for text in complaints(place, source))


@pytest.mark.parametrize(
    ("place", "source"),
    [
        ("core/yamltext.py", "import yaml"),
        ("core/change.py", "from unidiff import PatchSet"),
        ("core/ids.py", "from gitgate.errors import GateError\nfrom gitgate.core import quoting"),
        ("git/refs.py", "import os, time, pygit2\nfrom gitgate import __version__"),
        ("cli/main.py", "import click, sys\nfrom gitgate.app import world\nsys.exit(print(1))"),
    ],
)
def test_an_allowed_one_passes(place: str, source: str) -> None:
    assert not complaints(place, source)
