"""Digests and secrets are looked up by an index or compared in constant time, and in no other way."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("mail4agent_api", "mail4agent_core", "mail4agent_daemon", "clients/python/mail4agent_client")
#: What holds a secret, or the digest of one, by its name. ``content``, a message's hash, is none.
SENSITIVE = ("digest", "secret", "token", "credential", "password", "signature")
#: Names that say where a secret is, or when it was made, and are none.
HARMLESS = ("secret_issued_at", "credential_from", "token_file", "secret_file")
#: A ref's digest names content; it is part of a message and no secret.
PUBLIC = {"ref.digest"}
#: Digests that name a content which both sides have, and looks at whether there is a secret at all.
CONTENTS = {
    "record.raw.get('box_digest') != submission.digest",
    "f'sha256:{hashlib.sha256(raw).hexdigest()}' != attachment.sha256",
    "f'sha256:{hashlib.sha256(content).hexdigest()}' == attachment.sha256",
    "digest == theirs.sha256",
    "hashed.hexdigest() == sha256",
    "hashlib.sha256(content).hexdigest() != file.sha256",
    "old.digest == digest(text)",
    "place.digest == digest(text)",
    "section_type(section).model_fields[key].annotation == SecretStr | None",
    "(settings.username is None) != (password is None)",
}


def names(node: ast.AST) -> Iterator[str]:
    """The names that a compared value is made of, with the one that an attribute is read from."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute):
            yield ast.unparse(part)
        elif isinstance(part, ast.Name):
            yield part.id


def is_sensitive(node: ast.AST) -> bool:
    """Whether a compared value is, by its name, a secret or a digest."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "len":
        return False
    return any(
        any(word in name.rpartition(".")[2].lower() for word in SENSITIVE)
        and name.rpartition(".")[2] not in HARMLESS
        and name not in PUBLIC
        for name in names(node)
    )


def faults(source: str) -> list[str]:
    """Comparisons of a secret or a digest by ``==`` or ``!=``, save with what is no text."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Compare):
            continue
        sides = [node.left, *node.comparators]
        direct = any(isinstance(op, ast.Eq | ast.NotEq) for op in node.ops)
        constant = any(
            isinstance(side, ast.Constant) and not isinstance(side.value, str | bytes) for side in sides
        )
        if direct and not constant and any(is_sensitive(side) for side in sides):
            found.append(ast.unparse(node))
    return found


@pytest.mark.promise("limits.digests-are-compared-in-constant-time")
def test_no_digest_is_compared_by_its_bytes() -> None:
    """``==`` ends at the first byte that differs, and its time tells how many were right."""
    found = {
        f"{path.relative_to(ROOT)}: {fault}"
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for fault in faults(path.read_text("utf-8"))
        if fault not in CONTENTS
    }
    assert found == set()


@pytest.mark.parametrize(
    "source",
    [
        "if found == digest: pass",
        "if call.digest != kept: pass",
        "x = next(a for a in b if a.secret_digest == wanted)",
        "ok = digest_of(secret) == known",
        "ok = token == 'abc'",
    ],
)
def test_the_look_finds_such_a_comparison(source: str) -> None:
    """However it is written, as long as a name says what it is."""
    assert len(faults(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "if digest is None: pass",
        "if len(secret) > 256: pass",
        "if account.secret_issued_at == 0: pass",
        "ok = compare_digest(digest, found)",
        "ok = content == prior.content",
    ],
)
def test_the_look_leaves_others_alone(source: str) -> None:
    """Lengths, times and what is no secret may be compared."""
    assert faults(source) == []
