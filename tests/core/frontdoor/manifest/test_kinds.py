"""Each kind of field takes what it is for, in its own type, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from mail4agent_core.frontdoor.manifest import Phase
from mail4agent_core.frontdoor.quarantine import is_address

from .forms import DIGEST, field, form, measured

LONG_LABEL = "a" * 63
TAKEN: list[tuple[str, dict[str, Any], Any, Any]] = [
    ("text", {}, "  Noor \t", "Noor"),
    ("text", {}, "Zoë 😀", "Zoë 😀"),
    ("text", {"max_length": 3}, "\u00a0abc\u2003", "abc"),
    ("text", {"pattern": "^[A-Z]{2}-\\d{4}$"}, "NH-0301", "NH-0301"),
    ("long_text", {}, "one\r\ntwo\rthree\n", "one\ntwo\nthree"),
    ("email", {}, " noor@example.net ", "noor@example.net"),
    ("email", {}, f"{'a' * 64}@{LONG_LABEL}.example", f"{'a' * 64}@{LONG_LABEL}.example"),
    ("url", {}, "HTTPS://example.org:443/a%20b?q=1#x", "HTTPS://example.org:443/a%20b?q=1#x"),
    ("date", {}, "2028-02-29", "2028-02-29"),
    ("date", {"min": "2026-01-01", "max": "2026-01-01"}, "2026-01-01", "2026-01-01"),
    ("integer", {}, " -7 ", -7),
    ("integer", {}, 3.0, 3),
    ("integer", {"min": -3, "max": 3}, "+3", 3),
    ("select", {}, "tour", "tour"),
    ("multi_select", {}, "tour", ["tour"]),
    ("multi_select", {}, ["other", "tour"], ["other", "tour"]),
    ("bool", {}, "on", True),
    ("bool", {}, " YES", True),
    ("bool", {}, "0", False),
    ("bool", {}, False, False),
    ("file", {}, measured(), measured()),
    ("file", {"accept": ["jpg"]}, measured(content_type="image/jpeg", attachment_id="k3v9"),
     measured(content_type="image/jpeg", attachment_id="k3v9")),
    ("file", {"max_bytes": 10}, measured(size=10.0), measured(size=10)),
]  # fmt: skip
REFUSED: list[tuple[str, dict[str, Any], Any]] = [
    ("text", {}, "two\nlines"),
    ("text", {}, "a\u2028b"),
    ("text", {}, "nul\x00"),
    ("text", {}, "\ud83d"),
    ("text", {}, 7),
    ("text", {"max_length": 3}, "abcd"),
    ("text", {"pattern": "[a-z]{2}"}, "abc"),
    ("text", {"pattern": "\\d{2}"}, "\u0664\u0662"),
    ("long_text", {}, "a\x1b[31m"),
    ("long_text", {"max_length": 1}, "é😀"),
    ("email", {}, "noor"),
    ("email", {}, "noor@localhost"),
    ("email", {}, "noor@example.net, eve@example.net"),
    ("email", {}, "Noor <noor@example.net>"),
    ("email", {}, '"noor x"@example.net'),
    ("email", {}, "noor..x@example.net"),
    ("email", {}, ".noor@example.net"),
    ("email", {}, "noor@example..net"),
    ("email", {}, "noor@-example.net"),
    ("email", {}, "noor@example.123"),
    ("email", {}, "n\u043eor@example.net"),
    ("email", {}, "noor@ex\u00e4mple.net"),
    ("email", {}, "a\n@example.net"),
    ("email", {}, f"{'a' * 65}@example.net"),
    ("email", {"max_length": 10}, "noor@example.net"),
    ("url", {}, "javascript:alert(1)"),
    ("url", {}, "ftp://example.org"),
    ("url", {}, "https://user@example.org/"),
    ("url", {}, "https://example.org:65536/"),
    ("url", {}, "https://exa mple.org/"),
    ("url", {}, "https://ex\u00e4mple.org/"),
    ("url", {}, "https:///path"),
    ("url", {}, "https://example.org/%zz"),
    ("url", {}, "https://example.org\\@evil.example/"),
    ("date", {}, "2026-02-29"),
    ("date", {}, "2026-13-01"),
    ("date", {}, "0000-01-01"),
    ("date", {}, "2026-1-1"),
    ("date", {}, "20260101"),
    ("date", {}, "2026-W01-1"),
    ("date", {}, "\u0662026-01-01"),
    ("date", {"min": "2026-01-02"}, "2026-01-01"),
    ("date", {"max": "2026-01-02"}, "2026-01-03"),
    ("integer", {}, True),
    ("integer", {}, 1.5),
    ("integer", {}, float("nan")),
    ("integer", {}, 2**53),
    ("integer", {}, "9" * 17),
    ("integer", {}, "1_000"),
    ("integer", {}, "\u0667"),
    ("integer", {"min": 1}, 0),
    ("integer", {"max": 1}, "2"),
    ("select", {}, "Tour"),
    ("select", {}, ["tour"]),
    ("multi_select", {}, ["tour", "tour"]),
    ("multi_select", {}, ["tour", "gone"]),
    ("multi_select", {}, [["tour"]]),
    ("multi_select", {"max_choices": 1}, ["tour", "other"]),
    ("bool", {}, "maybe"),
    ("bool", {}, 1),
    ("file", {}, "plan.pdf"),
    ("file", {}, measured(path="/etc/passwd")),
    ("file", {}, {"filename": "plan.pdf"}),
    ("file", {}, measured(size=0)),
    ("file", {}, measured(size=True)),
    ("file", {"max_bytes": 9}, measured()),
    ("file", {}, measured(sha256=DIGEST.upper())),
    ("file", {}, measured(filename="../plan.pdf")),
    ("file", {}, measured(filename="..")),
    ("file", {}, measured(filename="a" * 256)),
    ("file", {}, measured(filename=7)),
    ("file", {"accept": ["png"]}, measured()),
    ("file", {}, measured(content_type=["application/pdf"])),
    ("file", {}, measured(attachment_id="../x")),
]


@pytest.mark.promise("frontdoor.submissions-have-one-validator")
@pytest.mark.parametrize(("kind", "given", "submitted", "kept"), TAKEN)
def test_what_a_field_is_for_is_kept_in_its_own_type(
    kind: str, given: dict[str, Any], submitted: Any, kept: Any
) -> None:
    """A value that belongs to its kind is coerced, and is then one that the field allows."""
    visit = form(field(kind, **given))
    values = visit.validate({"one": submitted})
    assert values == {"one": kept}
    assert type(values["one"]) is type(kept)
    assert visit.fields[0].check(kept)


@pytest.mark.promise("frontdoor.submissions-have-one-validator")
@pytest.mark.parametrize(("kind", "given", "submitted"), REFUSED)
def test_what_a_field_is_not_for_is_a_problem_of_that_field(
    kind: str, given: dict[str, Any], submitted: Any
) -> None:
    """Anything else is refused under the field's name, in words that quote nothing of it."""
    visit = form(field(kind, **given))
    (problem,) = visit.checked({"one": submitted}).problems
    assert problem.field == "one"
    assert not visit.fields[0].check(submitted)
    if isinstance(submitted, str) and len(submitted) > 3:
        assert submitted not in problem.says


@pytest.mark.promise("frontdoor.free-text-follows-from-the-kind")
def test_free_text_follows_from_the_kind() -> None:
    """What somebody can type is free text, and what he can only choose is not; nothing declares it."""
    kinds = ("text", "long_text", "email", "url", "date", "integer", "select", "multi_select", "bool", "file")
    visit = form(*(field(kind, kind) for kind in kinds))
    assert [each.name for each in visit.fields if each.free_text] == ["text", "long_text", "email", "url"]


@pytest.mark.parametrize("blank", [None, "", " \t\u00a0", []])
def test_a_blank_answer_is_no_answer(blank: Any) -> None:
    """A blank optional field is absent, and a blank required one is missing."""
    optional = form(*(field(kind, kind) for kind in ("text", "email", "date", "integer", "multi_select")))
    names = [each.name for each in optional.fields]
    assert optional.validate(dict.fromkeys(names, blank)) == {}
    required = form(field("text", required=True))
    assert [problem.says for problem in required.checked({"one": blank}).problems] == ["is required"]


def test_files_are_due_when_a_submission_is_whole_and_not_before() -> None:
    """Before the address is proved a required file is not missed, and one that is given is refused."""
    visit = form(field("file", required=True))
    assert visit.checked({}, Phase.SUBMIT).valid
    assert not visit.checked({"one": measured()}, Phase.SUBMIT).valid
    assert not visit.checked({}).valid
    assert visit.checked({"one": measured()}).valid


@pytest.mark.parametrize("address", [taken for kind, _, _, taken in TAKEN if kind == "email"])
def test_an_address_that_is_taken_is_one_that_an_answer_may_go_to(address: str) -> None:
    """No form takes an address for which the quarantine would withhold the brief."""
    assert is_address(address)
