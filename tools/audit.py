"""Audit what the project depends on: what the files here tell, and what the world has found out.

The first half reads files and installed metadata and needs no network: licences, hashes, what is imported but
not declared, what is declared but not imported. The second asks for known vulnerabilities and withdrawn
("yanked") releases. A service counts as one that answers only when it tells of a vulnerability that is known
for sure: an index that knows no advisories answers, too, and would pass everything. Where no service
answers, that is said and fails nothing; a finding, and an audit that broke off, fail.
"""

import argparse
import ast
import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("mail4agent_api", "mail4agent_core", "mail4agent_daemon", "clients/python/mail4agent_client")
#: What the daemon may be shipped with: licences that ask nothing of a program that uses the library. MPL asks
#: for changes of its own files alone.
ALLOWED = frozenset(
    {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSD", "ISC", "MIT", "MIT-0", "MPL-2.0", "PSF-2.0"}
)
#: LGPL, and good only for these: an extra that a person chooses, imported where a PostgreSQL is configured.
CHOSEN = {"psycopg": "LGPL-3.0-only", "psycopg-binary": "LGPL-3.0-only", "psycopg-pool": "LGPL-3.0-only"}
#: How distributions without a licence expression spell their licence, in a classifier or in a line.
SPELLINGS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "ISC License": "ISC",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
PIN = re.compile(r"^(?P<pin>[a-z0-9][a-z0-9._-]*==[^ \\\n]+(?: ; [^\\\n]+)?)", re.MULTILINE)
#: A release with a vulnerability that every service knows (CVE-2025-43859), and the same for npm
#: (CVE-2021-44906). A service that does not tell of it answers nothing.
KNOWN = "h11==0.14.0"
KNOWN_NPM = {"name": "minimist", "version": "1.2.5"}


@dataclass(frozen=True)
class Answer:
    """What became of one question: what was found, or why nothing can be said."""

    findings: tuple[str, ...] = ()
    unanswered: str = ""


def licences(name: str) -> set[str]:
    """The identifiers of every licence that an installed distribution names. Empty: it names none."""
    told = importlib.metadata.metadata(name)
    if "License-Expression" in told:
        return set(re.findall(r"[A-Za-z0-9.-]+", told["License-Expression"])) - {"AND", "OR", "WITH"}
    classified = [
        line.rpartition(" :: ")[2] for line in told.get_all("Classifier") or [] if line.startswith("License ")
    ]
    lines = classified or [line for line in told.get_all("License") or [] if line][:1]
    return {SPELLINGS.get(line, line) for line in map(_first_line, lines)}


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def licence_faults(lock: str, chosen: Iterable[str] = CHOSEN) -> list[str]:
    """One sentence for each distribution of a lock that may not be shipped with the daemon.

    What the lock has for other platforms is judged there.
    """
    found: list[str] = []
    pins = [Requirement(match["pin"]) for match in PIN.finditer(lock)]
    here = [pin.name for pin in pins if pin.marker is None or pin.marker.evaluate()]
    for name in [*here, *chosen]:
        named = licences(name)
        if not named:
            found.append(f"{name} names no licence")
        wrong = named - ALLOWED - ({CHOSEN[name]} if name in CHOSEN else set())
        found += [f"{name} is licensed {licence}, which is not allowed" for licence in sorted(wrong)]
    return found


def imported(packages: Iterable[Path]) -> set[str]:
    """The top-level modules that packages import, by name in `import_module` too; not ours, nor Python's."""
    found: set[str] = set()
    for path in (each for package in packages for each in package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            found.update(name.partition(".")[0] for name in _imports(node))
    return {name for name in found - set(sys.stdlib_module_names) if not name.startswith("mail4agent_")}


def _imports(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import():
            yield from (alias.name for alias in node.names)
        case ast.ImportFrom(module=str(module), level=0):
            yield module
        case ast.Call(func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(name)), *_]):
            yield name
        case _:
            pass


def declaration_faults(pyproject: Mapping[str, Any], modules: Iterable[str]) -> list[str]:
    """One sentence for each module that comes only by way of another dependency, and for each dependency of
    which no module is imported."""
    project = pyproject["project"]
    lines = [*project["dependencies"], *chain.from_iterable(project["optional-dependencies"].values())]
    ours = canonicalize_name(project["name"])
    declared = {canonicalize_name(Requirement(line).name) for line in lines} - {ours}
    providers = importlib.metadata.packages_distributions()
    found: list[str] = []
    used: set[str] = set()
    for module in sorted(set(modules)):
        names = {canonicalize_name(name) for name in providers.get(module, [])}
        used |= names
        if not names & declared:
            found.append(f"{module} is imported and in no dependency of pyproject.toml")
    return found + [f"{name} is declared and never imported" for name in sorted(declared - used)]


def npm_faults(name: str, lock: Mapping[str, Any]) -> list[str]:
    """One sentence for each package of an npm lock without its bytes' digest, and for each that is shipped
    under a licence that is not allowed."""
    found: list[str] = []
    for place, package in lock["packages"].items():
        if not place or package.get("link"):
            continue
        if not str(package.get("integrity", "")).startswith("sha512-"):
            found.append(f"{name} has no digest of {place}")
        if not package.get("dev") and name.startswith("clients/"):
            named = set(re.findall(r"[A-Za-z0-9.-]+", str(package.get("license", "")))) - {"AND", "OR"}
            if not named or named - ALLOWED:
                found.append(f"{name} ships {place}, whose licence is not allowed")
    return found


def npm_locks() -> list[Path]:
    """Each npm lock of the repository."""
    found = [*(ROOT / "clients").glob("*/package-lock.json"), *(ROOT / "tests").glob("*/package-lock.json")]
    return sorted([*found, *(ROOT / "tests").glob("*/*/package-lock.json")])


def offline() -> list[str]:
    """What is wrong with the dependencies by the files alone."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    found = licence_faults(lock) + declaration_faults(pyproject, imported(ROOT / name for name in PACKAGES))
    for path in npm_locks():
        lock_of_npm = json.loads(path.read_text(encoding="utf-8"))
        found += npm_faults(path.relative_to(ROOT).as_posix(), lock_of_npm)
    return found


def vulnerabilities(lock: Path, services: Iterable[tuple[str, ...]]) -> Answer:
    """What the first service that answers knows of a lock; ``services`` are pip-audit's flags for each."""
    with tempfile.TemporaryDirectory() as folder:
        known = Path(folder) / "known.txt"
        known.write_text(f"{KNOWN}\n", encoding="utf-8")
        for service in services:
            told = _pip_audit(known, service, "--no-deps")
            if not told or not any(package.get("vulns") for package in told):
                continue
            told = _pip_audit(lock, service, "--require-hashes")
            if told is None or any("skip_reason" in package for package in told):
                return Answer(("the audit for vulnerabilities broke off; run it again",))
            return Answer(tuple(_vulnerable(told)))
    return Answer(unanswered="no advisory service answered")


def _vulnerable(told: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for package in told:
        for each in package["vulns"]:
            fixed = ", ".join(each["fix_versions"]) or "no release"
            yield f"{package['name']} {package['version']} has {each['id']}; fixed in {fixed}"


def _pip_audit(requirements: Path, service: tuple[str, ...], *flags: str) -> list[dict[str, Any]] | None:
    """The packages that pip-audit tells of; None where it failed or was told nothing that it could read."""
    command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--format=json", "--desc=off"]
    command += ["--progress-spinner=off", "--timeout=10", *flags, *service, f"--requirement={requirements}"]
    done = subprocess.run(command, capture_output=True, check=False, text=True, timeout=600)
    try:
        return json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        return None


def npm_vulnerabilities(locks: Iterable[Path]) -> Answer:
    """What npm's registry knows of each lock."""
    npm = shutil.which("npm")
    if npm is None:
        return Answer(unanswered="npm is not on this machine")
    with tempfile.TemporaryDirectory() as folder:
        name, version = KNOWN_NPM["name"], KNOWN_NPM["version"]
        stated = {"name": "known", "version": "1.0.0", "dependencies": {name: version}}
        packages = {"": stated, f"node_modules/{name}": {"version": version}}
        lock = {**stated, "lockfileVersion": 3, "requires": True, "packages": packages}
        (Path(folder) / "package.json").write_text(json.dumps(stated), encoding="utf-8")
        (Path(folder) / "package-lock.json").write_text(json.dumps(lock), encoding="utf-8")
        if not _npm_audit(npm, Path(folder)):
            return Answer(unanswered="no advisory service of npm answered")
    found: list[str] = []
    for path in locks:
        told = _npm_audit(npm, path.parent)
        name = path.relative_to(ROOT).as_posix()
        if told is None:
            return Answer((f"the audit of {name} broke off; run it again",))
        found += [f"{name}: {package} has a vulnerability ({severity})" for package, severity in told]
    return Answer(tuple(found))


def _npm_audit(npm: str, folder: Path) -> list[tuple[str, str]] | None:
    command = [npm, "audit", "--json", "--package-lock-only"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, text=True, timeout=120)
    try:
        told = json.loads(done.stdout)["vulnerabilities"]
    except (ValueError, KeyError):
        return None
    return [(name, str(each["severity"])) for name, each in told.items()]


def yanked(lock: Path) -> Answer:
    """Which releases of a lock their makers have withdrawn since."""
    command = [sys.executable, "-m", "uv", "--no-progress", "pip", "install", "--dry-run", "--reinstall"]
    command += ["--no-deps", f"--python={sys.executable}", "--requirements", str(lock)]
    done = subprocess.run(command, capture_output=True, check=False, text=True, timeout=600)
    if done.returncode:
        return Answer(unanswered="no package index answered for every release")
    return Answer(tuple(re.findall(r"^warning: (`.+` is yanked.*)$", done.stderr, re.MULTILINE)))


def main() -> int:
    """Exit status 0 when nothing was found; 1 for findings, each of which is a line on standard error."""
    parser = argparse.ArgumentParser(description="Audit what the project depends on.")
    parser.add_argument("--offline", action="store_true", help="judge by the files alone")
    options = parser.parse_args()
    found = offline()
    print(f"audit: licences, hashes and declarations: {len(found)} findings")
    lock = ROOT / "requirements-dev.lock"
    if not options.offline:
        services = ((), ("--vulnerability-service=osv",))
        for what, answer in (
            ("vulnerabilities of Python packages", vulnerabilities(lock, services)),
            ("vulnerabilities of npm packages", npm_vulnerabilities(npm_locks())),
            ("releases that were yanked", yanked(lock)),
        ):
            if answer.unanswered:
                print(f"audit: NOT AUDITED for {what}: {answer.unanswered}", file=sys.stderr)
            else:
                print(f"audit: {what}: {len(answer.findings)} findings")
            found += answer.findings
    for each in found:
        print(f"audit: {each}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
