"""The pages of the console with 100,000 messages and 1,000 drafts: the time of each, and its weight."""

import http.client
import json
import re
import shutil
from time import perf_counter
from urllib.parse import urlencode

import load
import mailboxes
import subjects
from measure import Measurement, Report, arguments, in_turn, percentile

from mail4agent_core.outbox import OutboxKind, OutboxStore
from mail4agent_core.taint import CLEAN

MESSAGES = 100_000
DRAFTS = 1_000
LOOKS = 10
MS_MAX, KB_MAX = 150, 200
ARGS = {"to": "ana@example.org", "subject": "Tuesday?", "body": "Dear Ana, shall we meet? " * 15}
STATIC = re.compile(r'(?:href|src)="(/console/static/[^"]+)"')


class Browser:
    """Somebody who is signed in, on one connection."""

    def __init__(self, port: int, secret: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self._headers = {"Origin": f"http://127.0.0.1:{port}"}
        form = {**self._headers, "Content-Type": "application/x-www-form-urlencoded"}
        self._connection.request("POST", "/console/signin", urlencode({"secret": secret}), form)
        answer = self._connection.getresponse()
        answer.read()
        cookie = answer.getheader("set-cookie")
        if answer.status != 303 or cookie is None:
            raise RuntimeError(f"the sign-in was answered {answer.status}")
        self._headers["Cookie"] = cookie.partition(";")[0]

    def get(self, path: str) -> bytes:
        """A page."""
        self._connection.request("GET", path, headers=self._headers)
        answer = self._connection.getresponse()
        page = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path} was answered {answer.status}")
        return page


def looks(browser: Browser, path: str) -> Measurement:
    """Times of a page, and its bytes with everything that it asks for."""

    async def measured() -> dict[str, float]:
        took: list[float] = []
        page = b""
        for _ in range(LOOKS):
            begun = perf_counter()
            page = browser.get(path)
            took.append((perf_counter() - begun) * 1000)
        whole = len(page) + sum(len(browser.get(each)) for each in set(STATIC.findall(page.decode())))
        return {"p50 ms": percentile(took, 0.5), "worst ms": max(took), "KB": whole / 1000}

    return measured


def fill(store: OutboxStore) -> str:
    """Put the drafts there; the id of one."""
    item = store.stage("mail__send", OutboxKind.MESSAGE, ARGS, CLEAN, "session-1", None)
    value = json.loads(item.encoded())
    for number in range(1, DRAFTS):
        id_ = f"{item.id[:15]}-{number:08x}-1a2b3c4d"
        text = json.dumps({**value, "id": id_}, ensure_ascii=False, indent=2)
        (store.root / f"{id_}.json").write_text(text, "utf-8")
    return item.id


async def main() -> None:
    options = arguments(__doc__ or "", rounds=3)
    report = Report("console", f"pages with {MESSAGES:,} messages and {DRAFTS:,} drafts")
    kept = await mailboxes.mailbox(MESSAGES)
    with subjects.scratch() as folder:
        home = folder / "home"
        shutil.copytree(kept, home)
        with OutboxStore.open(home / "outbox") as store:
            draft = fill(store)
        async with subjects.daemon(home) as server:
            operator = Browser(server.port, (home / "operator.key").read_text().strip())
            reader = Browser(server.port, mailboxes.READER_SECRET)
            pages = {
                "Needs you": (operator, "/console"),
                "Outbox": (operator, "/console/outbox"),
                "a draft": (operator, f"/console/outbox/{draft}"),
                "Decide several": (operator, "/console/decide"),
                "Front door": (operator, "/console/frontdoor"),
                "Mail, its inbox": (reader, "/console/mail"),
                "Flow": (operator, "/console/flow"),
                "Mailboxes": (operator, "/console/mailboxes"),
                "Runs": (operator, "/console/runs"),
                "Health": (operator, "/console/health"),
            }
            found = await in_turn(
                options.rounds, {name: looks(browser, path) for name, (browser, path) in pages.items()}
            )
    report.table("pages", found.values())
    for name, series in found.items():
        report.at_most(f"{name}, p50 ms", series.median("p50 ms"), MS_MAX)
        report.at_most(f"{name}, KB with everything", series.median("KB"), KB_MAX)
    report.note("each look is one request on a kept connection, with the counts of the rail in it")
    report.finish()


if __name__ == "__main__":
    load.run(main())
