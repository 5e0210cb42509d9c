"""The repository itself: what is tracked, what make offers, what is locked, what the wheel holds."""

import ast
import copy
import functools
import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import LONG, TESTS

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {
    "mail4agent_api": ROOT / "mail4agent_api",
    "mail4agent_core": ROOT / "mail4agent_core",
    "mail4agent_daemon": ROOT / "mail4agent_daemon",
    "mail4agent_client": ROOT / "clients" / "python" / "mail4agent_client",
}


def tracked() -> list[Path]:
    """The files that are in the repository, present on disk."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    return [ROOT / name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()]


def texts() -> list[tuple[str, str]]:
    """Name and text of each tracked file that is text."""
    found = []
    for path in tracked():
        raw = path.read_bytes()
        if b"\0" not in raw:
            found.append((path.relative_to(ROOT).as_posix(), raw.decode("utf-8", "replace")))
    assert found
    return found


def lines_with(pattern: str) -> list[str]:
    """`file:line` of each line of a tracked text file that the pattern occurs in."""
    expression = re.compile(pattern)
    return [
        f"{name}:{number}"
        for name, text in texts()
        for number, line in enumerate(text.splitlines(), 1)
        if expression.search(line)
    ]


def test_no_tracked_file_names_a_path_of_one_machine():
    """Nothing depends on where somebody's checkout, home or scratch folder lies."""
    roots = {re.escape(f"{path}/") for path in (ROOT, Path.home()) if len(path.parts) > 1}
    pattern = r"(?<![\w.~*-])(?:/(?:work|root|tmp/[a-z]|opt/wheels)(?:/|\b)|" + "|".join(sorted(roots)) + ")"
    assert lines_with(pattern) == []


def test_no_tracked_file_names_a_package_registry():
    """Where packages come from is the person's own setting, in locks and in documents alike."""
    hosts = [
        ("pypi", "org"),
        ("files.python", "hosted.org"),
        ("registry.npm", "js.org"),
        ("registry.yarn", "pkg.com"),
    ]
    pattern = "|".join(re.escape(".".join(host) if host[0] == "pypi" else "".join(host)) for host in hosts)
    assert lines_with(pattern) == []


def test_no_tracked_text_has_a_carriage_return():
    """Line ends are the same everywhere, so generated files compare equal."""
    assert [name for name, text in texts() if "\r" in text] == []


def makefile_targets() -> set[str]:
    """The targets of the Makefile that a person can name."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z][a-z-]*):(?!=)", text, re.MULTILINE))


def test_make_help_lists_every_target():
    """What can be made is what help says, and help is what make does when it is asked for nothing."""
    shown = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    listed = set(re.findall(r"^  make ([a-z-]+) +\S", shown.stdout, re.MULTILINE))
    assert listed == makefile_targets()
    assert listed >= {"help", "run", "test", "check", "generate", "lock", "fuzz", "torture", "bench"}


def test_the_script_of_an_install_without_the_daemon_names_the_extra():
    """One line on standard error says what to install, where a stranger would meet a traceback."""
    code = (
        "import sys; sys.modules['typer'] = None; sys.argv = ['mail4agent', '--help']; "
        "from mail4agent_daemon.__main__ import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    says = "mail4agent: the command line comes with an extra: pip install 'mail4agent[daemon]'\n"
    assert done.stderr == says


def test_every_target_is_phony():
    """A file that happens to have a target's name cannot stop it."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert set(re.findall(r"^\.PHONY: (.+)$", text, re.MULTILINE)) == makefile_targets()


def tool(name: str) -> ModuleType:
    """A script of tools/, imported."""
    spec = importlib.util.spec_from_file_location(f"tools_{name}", ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pyproject() -> dict[str, Any]:
    """pyproject.toml, parsed."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def locks() -> dict[str, str]:
    """The text of each lock file, by name."""
    return {path.name: path.read_text(encoding="utf-8") for path in ROOT.glob("*.lock")}


def test_locks_are_in_step_with_pyproject(pyproject: dict[str, Any], locks: dict[str, str]):
    """Each requirement is pinned, by hash, in a version that satisfies it."""
    assert tool("lock").faults(pyproject, locks) == []


def test_a_changed_requirement_puts_the_locks_out_of_step(pyproject: dict[str, Any], locks: dict[str, str]):
    """A requirement raised past its pin is found in both locks, by name."""
    changed = copy.deepcopy(pyproject)
    changed["project"]["dependencies"].append("jiter>=99")
    found = tool("lock").faults(changed, locks)
    assert "requirements.lock has no version that satisfies jiter>=99" in found
    assert "requirements-dev.lock has no version that satisfies jiter>=99" in found
    assert "requirements.lock was resolved from other requirements than pyproject.toml states" in found


def test_a_lock_edited_by_hand_is_found(pyproject: dict[str, Any], locks: dict[str, str]):
    """A pin without a hash, a pin that the two locks differ in and a missing lock are each found."""
    lock = tool("lock")
    edited = re.sub(
        r"^jiter==[^\n]*\n(?: +--hash[^\n]*\n)+",
        "jiter==0.19.1\n",
        locks["requirements.lock"],
        flags=re.MULTILINE,
    )
    found = lock.faults(pyproject, {**locks, "requirements.lock": edited})
    assert "requirements.lock has a line that is no hashed pin: jiter==0.19.1" in found
    assert "requirements-dev.lock and requirements.lock differ in jiter" in found
    assert "requirements.lock is missing" in lock.faults(pyproject, {})


def test_every_dependency_has_its_reason_beside_it():
    """A dependency that nobody can say the reason of is one that nobody dares to remove."""
    bare = []
    above = ""
    section = ""
    for line in (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines():
        section = line.strip("[]") if line.startswith("[") else section
        in_list = section in {"project", "project.optional-dependencies", "dependency-groups"}
        stated = re.match(r'    "[A-Za-z0-9_.\[\]-]+ *(?:[<>=!;].*)?",', line)
        if in_list and stated and "::" not in line and "#" not in line and not above.lstrip().startswith("#"):
            bare.append(line.strip())
        above = line
    assert bare == []


def imports(package: Path) -> set[str]:
    """The top-level names that the modules of a package import, anywhere in them."""
    found: set[str] = set()
    paths = list(package.rglob("*.py"))
    assert paths, f"{package.name} has no modules"
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found.update(alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.split(".")[0])
    return found - set(sys.stdlib_module_names) - {"__future__"}


def requirement_closure(name: str) -> set[str]:
    """The installed distributions that `name` needs without extras, itself left out."""
    needed: set[str] = set()
    waiting = [name]
    while waiting:
        for line in importlib.metadata.requires(waiting.pop()) or []:
            requirement = Requirement(line)
            wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            required = canonicalize_name(requirement.name)
            if wanted and required not in needed:
                needed.add(required)
                waiting.append(required)
    return needed


def test_wire_package_and_core_import_what_the_base_distribution_brings():
    """They run on that and the standard library; the store in PostgreSQL alone needs psycopg."""
    providers = importlib.metadata.packages_distributions()
    base = requirement_closure("mail4agent")
    brought = {
        module for module, names in providers.items() if base.intersection(map(canonicalize_name, names))
    }
    assert imports(PACKAGES["mail4agent_api"]) - brought - {"mail4agent_api"} == set()
    assert imports(PACKAGES["mail4agent_core"]) - brought - {"mail4agent_api", "mail4agent_core"} == {
        "psycopg"
    }
    others = {p for p in PACKAGES["mail4agent_core"].rglob("*.py") if "postgres" not in p.parts}
    assert [path for path in others if "psycopg" in path.read_text("utf-8")] == []
    loaded = (
        "import mail4agent_daemon.serving, mail4agent_daemon.app, sys; assert 'psycopg' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", loaded], check=True)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_wheel_holds_the_packages_their_schemas_and_nothing_else(wheel: Path):
    """Tests, tools and caches stay out; the published bundle and both documents come along."""
    names = zipfile.ZipFile(wheel).namelist()
    top = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert top == set(PACKAGES)
    assert {f"mail4agent_api/schemas/{name}" for name in ("openapi.json", "operations.json")} <= set(names)
    assert "mail4agent_api/schemas/bundle/mail.bundle.json" in names
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    assert [name for name in names if "__pycache__" in name or name.endswith(".pyc")] == []


@pytest.mark.promise("api.base-install-stands-alone")
def test_base_distribution_alone_imports_the_wire_package(wheel: Path, tmp_path: Path):
    """With the wheel and the base dependencies alone every module of the wire package is imported."""
    venv.EnvBuilder(with_pip=False, symlinks=True).create(tmp_path)
    python = tmp_path / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    site = Path(
        sysconfig.get_path("purelib", "venv", vars={"base": str(tmp_path), "platbase": str(tmp_path)})
    )
    zipfile.ZipFile(wheel).extractall(site)
    for name in requirement_closure("mail4agent"):
        distribution = importlib.metadata.distribution(name)
        for file in distribution.files or []:
            if ".." not in file.parts and "__pycache__" not in file.parts:
                (site / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(distribution.locate_file(file), site / file)
    program = (
        "import importlib, importlib.resources, pkgutil, mail4agent_api\n"
        "for found in pkgutil.walk_packages(mail4agent_api.__path__, 'mail4agent_api.'):\n"
        "    importlib.import_module(found.name)\n"
        "bundle = importlib.resources.files(mail4agent_api) / 'schemas/bundle/mail.bundle.json'\n"
        "print(mail4agent_api.__file__, len(bundle.read_bytes()) > 0)\n"
    )
    ran = subprocess.run(
        [python, "-I", "-W", "error", "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == ""
    assert ran.stdout.split() == [str(site / "mail4agent_api" / "__init__.py"), "True"]


def test_changelog_has_the_version():
    """The version of the distribution has its entry, newest first."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[(.+?)\]", text, re.MULTILINE)[:2] == ["Unreleased", version]


def test_decisions_are_numbered_without_a_gap_and_short():
    """Each decision record has its sections, its number and its place in the sequence, and fits on a page."""
    paths = sorted((ROOT / "docs" / "adr").glob("*.md"))
    assert [path.name[:4] for path in paths] == [f"{number:04}" for number in range(len(paths))]
    for path in paths:
        text = path.read_text(encoding="utf-8")
        headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
        assert headings == ["Context", "Options", "Outcome"], path.name
        assert text.startswith(f"# {path.name[:4]}: "), path.name
        assert len(text.splitlines()) <= 60, path.name


def test_links_between_documents_lead_somewhere():
    """A relative link in a Markdown file names a file of the repository."""
    broken = [
        f"{path.relative_to(ROOT)}: {target}"
        for path in tracked()
        if path.suffix == ".md"
        for target in re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", path.read_text(encoding="utf-8"))
        if not (path.parent / target).exists()
    ]
    assert broken == []


@functools.cache
def parsed_tests() -> list[tuple[str, ast.Module]]:
    """Name and tree of each module of the suite."""
    paths = sorted((ROOT / "tests").rglob("*.py"))
    return [
        (path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))) for path in paths
    ]


def test_every_test_says_in_one_line_what_it_shows():
    """A test's docstring is one sentence on one line."""
    silent = [
        f"{name}:{node.lineno}"
        for name, tree in parsed_tests()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
        if not (said := ast.get_docstring(node)) or "\n" in said or not said.endswith(".")
    ]
    assert silent == []


def test_no_test_sleeps():
    """Clocks are turned by hand and waits are on events: nothing in the suite sleeps for a time."""
    asleep = [
        f"{name}:{node.lineno}"
        for name, tree in parsed_tests()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in {"time.sleep", "asyncio.sleep", "anyio.sleep", "sleep"}
        and ast.unparse(node.args[0] if node.args else node) != "0"
    ]
    assert asleep == []


def test_what_begins_first_is_there():
    """A long file that was renamed would begin late, and nobody would be told."""
    assert [name for name in LONG if not (TESTS / name).exists()] == []
