"""The audit of dependencies: what it finds, when it says that nobody answered, and that nothing is amiss."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from .test_project import ROOT, tool


@contextmanager
def advisories(known: dict[str, str]) -> Iterator[tuple[str, ...]]:
    """pip-audit's flags for a service of this test, which knows an advisory for each package named."""

    class Service(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            name = asked["package"]["name"]
            found = {"id": known.get(name, ""), "summary": "s", "affected": []}
            body = json.dumps({"vulns": [found]} if name in known else {}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_request(self, code: Any = "-", size: Any = "-") -> None:
            """Tell nobody."""

    with HTTPServer(("127.0.0.1", 0), Service) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield "--vulnerability-service=osv", f"--osv-url=http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    """A lock of two packages."""
    path = tmp_path / "requirements.lock"
    path.write_text("".join(f"{pin} --hash=sha256:{'0' * 64}\n" for pin in ("tool==1.0", "other==2.0")))
    return path


@pytest.mark.promise("project.dependencies-are-audited")
def test_licences_hashes_and_declarations_of_this_project_are_in_order():
    """Nothing that ships is under a licence that is not allowed, undeclared, unused or without its digest."""
    assert tool("audit").offline() == []


@pytest.mark.promise("project.dependencies-are-audited")
def test_what_a_service_knows_of_a_locked_release_is_a_finding(lock: Path):
    """It is named with its release, and a release of which nothing is known passes."""
    with advisories({"h11": "X-1", "tool": "X-2"}) as service:
        answer = tool("audit").vulnerabilities(lock, [service])
    assert (answer.findings, answer.unanswered) == (("tool 1.0 has X-2; fixed in no release",), "")


@pytest.mark.promise("project.dependencies-are-audited")
def test_a_service_that_knows_no_advisories_has_not_answered(lock: Path):
    """An index that passes everything is no audit, and is said to be none."""
    with advisories({}) as silent:
        answer = tool("audit").vulnerabilities(lock, [silent])
    assert (answer.findings, answer.unanswered) == ((), "no advisory service answered")


def test_a_licence_that_is_not_allowed_is_found(monkeypatch: pytest.MonkeyPatch):
    """Each distribution of the lock is held against the list, and one of another platform is left to it."""
    audit = tool("audit")
    monkeypatch.setattr(audit, "licences", lambda name: {"click": {"GPL-3.0-only"}, "rich": set()}[name])
    lock = "click==8 \\\n    --hash=x\nrich==15 \\\n    --hash=x\nnowhere==1 ; sys_platform == 'amiga' \\\n"
    assert audit.licence_faults(lock, ()) == [
        "click is licensed GPL-3.0-only, which is not allowed",
        "rich names no licence",
    ]


def test_an_lgpl_is_good_for_the_extra_alone(monkeypatch: pytest.MonkeyPatch):
    """The distributions of the extra may have it, and nothing else of the lock."""
    audit = tool("audit")
    monkeypatch.setattr(audit, "licences", lambda name: {"LGPL-3.0-only"})
    assert audit.licence_faults("rich==15 \\\n", ["psycopg"]) == [
        "rich is licensed LGPL-3.0-only, which is not allowed"
    ]


def test_imports_and_declarations_are_compared_both_ways(tmp_path: Path):
    """A module that only another dependency brings, and a dependency without an import, are each named."""
    audit = tool("audit")
    (tmp_path / "a.py").write_text("import json, anyio\nfrom rich.table import Table\nfrom . import b\n")
    (tmp_path / "b.py").write_text("import importlib\nimportlib.import_module('watchfiles._rust_notify')\n")
    modules = audit.imported([tmp_path])
    assert modules == {"anyio", "rich", "watchfiles"}
    pyproject = {
        "project": {
            "name": "p",
            "dependencies": ["rich>=15"],
            "optional-dependencies": {"x": ["watchfiles>=1", "h11", "p[x]"]},
        }
    }
    assert audit.declaration_faults(pyproject, modules) == [
        "anyio is imported and in no dependency of pyproject.toml",
        "h11 is declared and never imported",
    ]


def test_an_npm_lock_without_digests_or_with_another_licence_is_found():
    """Every package has its digest, and what ships has a licence of the list."""
    entries: dict[str, Any] = {
        "": {"name": "x"},
        "node_modules/a": {"version": "1", "license": "MIT"},
        "node_modules/b": {"version": "1", "integrity": "sha512-x", "license": "GPL-3.0"},
        "node_modules/c": {"version": "1", "integrity": "sha512-x", "license": "GPL-3.0", "dev": True},
    }
    assert tool("audit").npm_faults("clients/typescript/package-lock.json", {"packages": entries}) == [
        "clients/typescript/package-lock.json has no digest of node_modules/a",
        "clients/typescript/package-lock.json ships node_modules/b, whose licence is not allowed",
    ]


def test_the_typescript_package_ships_without_dependencies():
    """What its description says is what its package and its lock hold."""
    package = json.loads((ROOT / "clients/typescript/package.json").read_text("utf-8"))
    lock = json.loads((ROOT / "clients/typescript/package-lock.json").read_text("utf-8"))["packages"]
    assert not {"dependencies", "peerDependencies", "optionalDependencies", "bundleDependencies"} & set(
        package
    )
    assert [place for place, entry in lock.items() if place and not entry.get("dev")] == []


def test_ci_audits():
    """The script of CI runs the audit, and the audit holds for every lock of pip and npm."""
    assert "\nmake audit " in (ROOT / ".ci/run").read_text("utf-8")
    assert "tools/audit.py" in (ROOT / "Makefile").read_text("utf-8")
    assert {path.parent.name for path in tool("audit").npm_locks()} == {"axe", "mcp", "typescript"}
