"""The system's Chromium for tests of pages, and the accessibility rules of axe-core.

A machine without Chromium leaves these tests out; with CI=true it fails them.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

AXE = Path(__file__).parent / "axe" / "node_modules" / "axe-core" / "axe.min.js"
#: Nothing but the pages is asked for: the browser's own errands would be refused, many at a time.
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def executable() -> str:
    """Where Chromium is. Skips the test where there is none, or fails it in CI."""
    names = (os.environ.get("M4A_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    for name in names:
        if name and (found := shutil.which(name)):
            return found
    _absent("Chromium is not on this machine; M4A_CHROMIUM names another")
    raise AssertionError("unreachable")


#: Is left by its parent before it becomes the browser, with its pipes; whoever started it waits for its end.
_ORPHAN = """#!{python} -ES
import os, sys
ended, lives = os.pipe()
os.set_inheritable(lives, True)
if os.fork() == 0:
    if os.fork() == 0:
        os.execv({path!r}, [{path!r}, *sys.argv[1:]])
    os._exit(0)
os.close(lives)
os.wait()
os.read(ended, 1)
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium; each test opens a context of its own in it.

    It runs below nobody, as a person's does: whoever runs the tests may be an agent, below which the console
    lets nobody decide.
    """
    with TemporaryDirectory() as folder:
        started = Path(folder) / "chromium"
        started.write_text(_ORPHAN.format(python=sys.executable, path=executable()))
        started.chmod(0o700)
        with _launched(str(started)) as browser:
            yield browser


@contextmanager
def _launched(path: str) -> Iterator[Browser]:
    # Its sandbox needs a user other than root, and a kernel that lets that user make namespaces.
    sandbox = os.geteuid() != 0 and not os.environ.get("CI")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=list(FLAGS), chromium_sandbox=sandbox, headless=True
        )
        try:
            yield browser
        finally:
            browser.close()


def serious(page: Page) -> list[str]:
    """What axe-core finds serious or critical on a page: ``rule: selector`` each.

    The rules run in a world of their own, so that the page's Content-Security-Policy stays as it is.
    """
    if not AXE.exists():
        _absent("axe-core is not installed: make browser-rules")
    session = page.context.new_cdp_session(page)
    frame = session.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
    world = session.send("Page.createIsolatedWorld", {"frameId": frame})["executionContextId"]

    def run(expression: str) -> Any:
        answer = session.send(
            "Runtime.evaluate",
            {"contextId": world, "expression": expression, "awaitPromise": True, "returnByValue": True},
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    run(AXE.read_text(encoding="utf-8") + "\n;0")
    found = run("axe.run(document, {resultTypes: ['violations']}).then(r => r.violations)")
    session.detach()
    return [
        f"{rule['id']}: {' '.join(map(str, node['target']))}"
        for rule in found
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]


def _absent(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
