"""Write the two lock files from pyproject.toml, or check that they are in step with it.

`requirements.lock` is what the daemon runs on; `requirements-dev.lock` is that and everything the checks
need, in the same versions. Both are universal (every supported Python and platform) and name each file's
SHA-256, so that an install takes exactly these bytes from whatever index the person's own pip is set to.

Writing resolves, with uv, against that index. Checking reads the files alone: it needs no network, so it can
be part of every run. It does not know whether newer releases exist.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
PIN = re.compile(r"^(?P<name>[a-z0-9][a-z0-9._-]*)==(?P<version>[^ ;\\]+)", re.MULTILINE)
DIGEST = re.compile(r"^# declared: sha256:(?P<digest>[0-9a-f]{64})$", re.MULTILINE)


@dataclass(frozen=True)
class Lock:
    """One lock file: its name, what of pyproject.toml it covers, and the lock whose pins it keeps."""

    file: str
    extras: tuple[str, ...]
    groups: tuple[str, ...]
    keeps: str | None = None


LOCKS = (
    Lock("requirements.lock", extras=("daemon",), groups=("build",)),
    Lock("requirements-dev.lock", extras=("daemon",), groups=("build", "dev"), keeps="requirements.lock"),
)


def declared(pyproject: Mapping[str, Any], lock: Lock) -> list[str]:
    """Every requirement of `pyproject` that `lock` must pin, includes and our own extras followed, sorted.

    Raises KeyError for an extra or a group that is not there.
    """
    project = pyproject["project"]
    found: set[str] = set(project["dependencies"])

    def extra(name: str) -> None:
        for line in project["optional-dependencies"][name]:
            requirement = Requirement(line)
            if canonicalize_name(requirement.name) == canonicalize_name(project["name"]):
                for inner in requirement.extras:
                    extra(inner)
            else:
                found.add(line)

    def group(name: str) -> None:
        for line in pyproject["dependency-groups"][name]:
            if isinstance(line, str):
                found.add(line)
            else:
                group(line["include-group"])

    for name in lock.extras:
        extra(name)
    for name in lock.groups:
        group(name)
    return sorted(found)


def digest(pyproject: Mapping[str, Any], lock: Lock) -> str:
    """SHA-256 over what the lock was resolved from: the requirements and the range of Pythons."""
    stated = [pyproject["project"]["requires-python"], *declared(pyproject, lock)]
    return hashlib.sha256(json.dumps(stated).encode()).hexdigest()


def faults(pyproject: Mapping[str, Any], texts: Mapping[str, str]) -> list[str]:
    """One sentence for each way in which the lock files, given by name, are not those of `pyproject`."""
    found: list[str] = []
    pins: dict[str, dict[str, list[str]]] = {}
    for lock in LOCKS:
        text = texts.get(lock.file)
        if text is None:
            found.append(f"{lock.file} is missing")
            continue
        stated = DIGEST.search(text)
        if stated is None or stated["digest"] != digest(pyproject, lock):
            found.append(f"{lock.file} was resolved from other requirements than pyproject.toml states")
        pinned = pins.setdefault(lock.file, {})
        for match in PIN.finditer(text):
            pinned.setdefault(canonicalize_name(match["name"]), []).append(match["version"])
        found += unhashed(lock.file, text)
        for line in declared(pyproject, lock):
            requirement = Requirement(line)
            versions = pinned.get(canonicalize_name(requirement.name), [])
            if not any(requirement.specifier.contains(Version(version)) for version in versions):
                found.append(f"{lock.file} has no version that satisfies {requirement}")
        if lock.keeps is not None:
            for name, versions in pins.get(lock.keeps, {}).items():
                if pinned.get(name) != versions:
                    found.append(f"{lock.file} and {lock.keeps} differ in {name}")
    return found


def unhashed(file: str, text: str) -> Iterable[str]:
    """One sentence for each line of a lock that is neither a hashed pin nor a comment."""
    for entry in re.sub(r"\\\n\s*", " ", text).splitlines():
        if not entry.strip() or entry.lstrip().startswith("#"):
            continue
        if not PIN.match(entry) or " --hash=sha256:" not in entry:
            yield f"{file} has a line that is no hashed pin: {entry.split(' ', 1)[0]}"


def write(pyproject: Mapping[str, Any], lock: Lock, *, upgrade: bool) -> None:
    """Resolve one lock with uv and write it; pins that still fit are kept unless `upgrade`."""
    command = [
        sys.executable,
        "-m",
        "uv",
        "pip",
        "compile",
        "pyproject.toml",
        "--universal",
        "--python-version",
        "3.11",
    ]
    command += ["--generate-hashes", "--no-header", "--no-emit-index-url", "--no-emit-find-links"]
    command += ["--quiet", "--output-file", lock.file]
    for name in lock.extras:
        command += ["--extra", name]
    for name in lock.groups:
        command += ["--group", name]
    if lock.keeps is not None:
        command += ["--constraint", lock.keeps]
    if upgrade:
        command.append("--upgrade")
    subprocess.run(command, cwd=ROOT, check=True)
    path = ROOT / lock.file
    header = f"# Written by: make lock\n# declared: sha256:{digest(pyproject, lock)}\n"
    path.write_text(header + path.read_text(encoding="utf-8"), encoding="utf-8")


def main() -> int:
    """Exit status 0 when the locks are written or in step, 1 when `--check` found a fault."""
    parser = argparse.ArgumentParser(description="Write or check the lock files.")
    parser.add_argument("--check", action="store_true", help="compare with pyproject.toml and write nothing")
    parser.add_argument("--upgrade", action="store_true", help="take newer versions where allowed")
    options = parser.parse_args()
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    if options.check:
        files = [lock.file for lock in LOCKS if (ROOT / lock.file).exists()]
        found = faults(pyproject, {file: (ROOT / file).read_text(encoding="utf-8") for file in files})
        for fault in found:
            print(f"{fault}; run: make lock", file=sys.stderr)
        return 1 if found else 0
    for lock in LOCKS:
        write(pyproject, lock, upgrade=options.upgrade)
    return 0


if __name__ == "__main__":
    sys.exit(main())
