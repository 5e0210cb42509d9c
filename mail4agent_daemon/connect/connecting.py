"""Connect a client and disconnect it, so that either all of it is done or nothing is left of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from mail4agent_api.errors import RefusalError
from mail4agent_client import SyncMailClient
from mail4agent_core.files import Folder, FolderBusyError, FolderError

from . import account as accounts
from . import client_files, records, tasks
from .account import ClientWith
from .clients import Launch
from .faults import ConnectError
from .plan import Request, check_present, launch_of, ours, place_of, targets_of
from .records import Place, Record
from .tasks import Task


@dataclass(frozen=True, slots=True)
class Connected:
    """What was done."""

    account: str
    launch: Launch
    files: tuple[Path, ...]
    changed: bool
    """Whether anything had to be done."""


@dataclass(frozen=True, slots=True)
class Disconnected:
    """What was taken back."""

    account: str
    files: tuple[Path, ...]
    revoked: bool
    """Whether the account's secret is dead: it is not while another place uses it."""


@contextmanager
def _held(home: Path) -> Iterator[Folder]:
    """The folder of records, for us alone. Raises ConnectError."""
    with records.opened(home, make=True) as folder:
        try:
            with folder.locked():
                yield folder
        except FolderBusyError as fault:
            raise ConnectError("busy", str(fault)) from None
        except FolderError as fault:
            raise ConnectError("record_unusable", str(fault)) from None


def connect(request: Request, operator: SyncMailClient, client_with: ClientWith) -> Connected:
    """Connect a client. Raises ConnectError, and what the mail client raises."""
    check_present(request)
    launch = launch_of(request)
    targets = targets_of(request, launch)
    with _held(request.home) as folder:
        known = records.all_of(folder)
        record = next((each for each in known if each.account == request.account), None)
        _check_free(request, known, record, [each.path for each in targets])
        label = f"{request.client.title}, by connect"
        account = accounts.found(operator, request.account)
        accounts.check_own(account, record, request.account, label)
        before = record or Record(request.account, request.client.name, 0)
        is_ours = ours(request.key)
        work: list[Task] = []
        try:
            for target in targets:
                old = place_of(before.places, target.path)
                work.append(tasks.added(request, target, old, is_ours))
            wanted = {each.path for each in targets}
            for place in before.places:
                if place.project == request.scope and place.path not in wanted:
                    work.append(tasks.removed(request, place, is_ours))  # noqa: PERF401  as below
            now, is_made = accounts.ensured(
                operator, client_with, folder, record=before, account=account, label=label
            )
            now = replace(now, places=_places(before.places, work))
            finished: list[Task] = []
            try:
                if now != record:
                    records.write(folder, now)
                for each in work:
                    tasks.done(request, each, launch)
                    finished.append(each)
            except (Exception, KeyboardInterrupt):
                _abandoned(work)
                for each in reversed(finished):
                    tasks.undone(request, each)
                if is_made:
                    accounts.unmade(operator, folder, request.account)
                else:
                    records.write(folder, replace(now, places=before.places))
                raise
            _remove_folders([each for each in before.places if each not in now.places])
        finally:
            _abandoned(work)
        changed = any(each.changes for each in work) or now != record
        return Connected(request.account, launch, tuple(each.path for each in targets), changed)


def disconnect(request: Request, operator: SyncMailClient) -> Disconnected:
    """Disconnect a client. Raises ConnectError, and what the mail client raises."""
    with _held(request.home) as folder:
        record = _connected(request, records.all_of(folder))
        request = replace(request, account=record.account)
        is_ours = ours(request.key)
        gone = [each for each in record.places if each.project == request.scope]
        left = tuple(each for each in record.places if each.project != request.scope)
        account = accounts.found(operator, record.account)
        work: list[Task] = []
        try:
            for place in gone:
                # One by one: when one cannot be, what the others left on the disk is cleared away.
                work.append(tasks.removed(request, place, is_ours))  # noqa: PERF401
            for each in work:
                tasks.done(request, each, None)
            _remove_folders(gone)
        finally:
            _abandoned(work)
        if not left:
            is_own = account is not None and account.created_at_unix_ms == record.created_at_unix_ms
            if is_own and account is not None and account.removed_at_unix_ms is None:
                try:
                    operator.admin_participant_revoke(id=record.account)
                except RefusalError as refusal:
                    if refusal.kind != "unknown_participant":
                        raise
            folder.remove(records.key_name(record.account))
        records.write(folder, replace(record, places=left))
        return Disconnected(record.account, tuple(each.path for each in gone), not left)


def _connected(request: Request, known: list[Record]) -> Record:
    """The record of what is to be disconnected. Raises ConnectError."""
    for each in known:
        is_meant = not request.account or each.account == request.account
        here = any(place.project == request.scope for place in each.places)
        if each.client == request.client.name and is_meant and here:
            return each
    name = f" as {request.account}" if request.account else ""
    where = f" in {request.scope}" if request.scope is not None else ""
    raise ConnectError("not_connected", f"{request.client.title} is not connected{name}{where}")


def _check_free(request: Request, known: list[Record], record: Record | None, paths: list[Path]) -> None:
    """Raise ConnectError where the account is another client's, or the client has another account."""
    if record is not None and record.client != request.client.name:
        raise ConnectError(
            "account_taken",
            f"the account {record.account} was made for another client ({record.client});"
            " choose a name with --as",
        )
    for other in known:
        if other.account != request.account and any(place_of(other.places, path) for path in paths):
            raise ConnectError(
                "already_connected",
                f"{request.client.title} is connected as {other.account}; disconnect it first",
            )


def _places(old: tuple[Place, ...], work: list[Task]) -> tuple[Place, ...]:
    touched = {each.path for each in work}
    kept = [each for each in old if each.path not in touched]
    return (*kept, *(each.place for each in work if each.place is not None))


def _remove_folders(gone: list[Place]) -> None:
    """Remove the folders that were made for files which are gone now, as far as nothing else is in them."""
    made = {folder for place in gone for folder in place.made_folders}
    client_files.remove_empty(sorted(made, key=lambda each: len(each.parts)))


def _abandoned(work: list[Task]) -> None:
    for each in work:
        if each.ready is not None and each.ready.partial is not None:
            each.ready.abandon()
