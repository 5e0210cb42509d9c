"""An outbox of 10,000 drafts: listing it cold and warm, reading one, staging one, releasing one."""

import gc
import json
from time import perf_counter, process_time

import load
import subjects
from measure import Measurement, Report, arguments, in_turn, percentile

from mail4agent_core.outbox import Delivered, OutboxKind, OutboxStore, Releases, digest_of
from mail4agent_core.taint import CLEAN

DRAFTS = 10_000
ACTS = 50
ARGS = {"to": "ana@example.org", "subject": "Tuesday?", "body": "Dear Ana, shall we meet? " * 15}


def fill(store: OutboxStore) -> None:
    """One draft by the store, and copies of its file in its form, each under an id of its own."""
    item = store.stage("mail__send", OutboxKind.MESSAGE, ARGS, CLEAN, "session-1", "/srv/work")
    value = json.loads(item.encoded())
    for number in range(1, DRAFTS):
        id_ = f"{item.id[:15]}-{number:08x}-1a2b3c4d"
        text = json.dumps({**value, "id": id_}, ensure_ascii=False, indent=2)
        (store.root / f"{id_}.json").write_text(text, "utf-8")


async def main() -> None:
    options = arguments(__doc__ or "", rounds=5)
    report = Report("outbox", f"an outbox of {DRAFTS:,} drafts, one KiB each")
    with subjects.scratch() as folder, OutboxStore.open(folder / "outbox") as store:
        fill(store)
        releases = Releases(store)
        # As the daemon does at its start.
        gc.freeze()

        async def bare() -> dict[str, float]:
            begun, used = perf_counter(), process_time()
            for path in store.root.glob("*.json"):
                path.read_bytes()
            return {"ms": (perf_counter() - begun) * 1000, "cpu ms": (process_time() - used) * 1000}

        async def cold() -> dict[str, float]:
            with OutboxStore.open(store.root) as fresh:
                begun, used = perf_counter(), process_time()
                assert len(fresh.rows().rows) >= DRAFTS
                return {"ms": (perf_counter() - begun) * 1000, "cpu ms": (process_time() - used) * 1000}

        async def warm() -> dict[str, float]:
            begun, used = perf_counter(), process_time()
            assert len(store.rows().rows) >= DRAFTS
            return {"ms": (perf_counter() - begun) * 1000, "cpu ms": (process_time() - used) * 1000}

        async def read() -> dict[str, float]:
            ids = store.listing.ids()[:: DRAFTS // ACTS][:ACTS]
            return _timed([lambda id_=id_: store.existing(id_) for id_ in ids])

        async def act() -> dict[str, float]:
            def one() -> None:
                item = store.stage("mail__send", OutboxKind.MESSAGE, ARGS, CLEAN, "session-1", None)
                outgoing = releases.begin(item.id, digest_of(item, None), "user:ana", None)
                releases.finish(outgoing, Delivered())

            return _timed([one] * ACTS)

        listing = await in_turn(
            options.rounds,
            {"open and read every file": bare, "list, nothing known": cold, "list again": warm},
        )
        single: dict[str, Measurement] = {"read one draft": read, "stage, begin, finish": act}
        acting = await in_turn(options.rounds, single)
    report.table("list 10,000 drafts", listing.values())
    report.table("one draft", acting.values())
    report.at_most("list, nothing known, ms", listing["list, nothing known"].median("ms"), 300)
    report.at_most("list again, ms", listing["list again"].median("ms"), 300)
    report.at_most("read one draft, p50 ms", acting["read one draft"].median("p50 ms"), 5)
    report.note("staging and releasing one draft are three durable writes and the look for a free id")
    report.finish()


def _timed(acts: object) -> dict[str, float]:
    assert isinstance(acts, list)
    seconds: list[float] = []
    for act in acts:
        begun = perf_counter()
        act()
        seconds.append(perf_counter() - begun)
    return {"p50 ms": percentile(seconds, 0.5) * 1000, "p99 ms": percentile(seconds, 0.99) * 1000}


if __name__ == "__main__":
    load.run(main())
