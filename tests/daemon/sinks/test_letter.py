"""The arguments of an email: what is carried, what is refused, and that nothing becomes a header."""

from email import message_from_bytes, policy
from email.headerregistry import Address
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mail4agent_api.errors import MalformedError, RefusalError, TooLargeError
from mail4agent_daemon.sinks.letter import RECIPIENTS_MAX, letter_of

FROM = Address("Mara", "mara", "example.org")
PLAIN = {"to": "noor@example.net", "subject": "Hello", "body": "Hi."}


@pytest.mark.promise("sinks.no-argument-becomes-a-header")
@pytest.mark.parametrize(
    "change",
    [
        {"subject": "Hello\r\nBcc: mallory@example.net"},
        {"subject": "Hello\nBcc: mallory@example.net"},
        {"subject": "Hello\x00"},
        {"subject": "Hello\u2028Bcc: mallory@example.net"},
        {"to": "noor@example.net\r\nBcc: mallory@example.net"},
        {"to": "noor@example.net, mallory@example.net"},
        {"to": "noor@example.net>, <mallory@example.net"},
        {"to": "<noor@example.net> SIZE=1"},
        {"to": '"a@b.example" <mallory@example.net>'},
        {"to": "noor@example.net\x0bRCPT"},
        {"to": "@example.net"},
        {"to": "noor@"},
        {"to": "noor@-example.net"},
        {"to": "noor@example..net"},
        {"to": "noör@example.net"},
        {"to": ["noor@example.net", 7]},
        {"to": {"email": "noor@example.net"}},
        {"to": []},
        {"to": None},
        {"cc": ["a@example.net\n"]},
        {"reply_to": "x"},
        {"in_reply_to": "<a@b>\r\nBcc: mallory@example.net"},
        {"in_reply_to": "a@b"},
        {"references": ["<a@b>", "<c@d> <e@f>"]},
        {"subject": "=?utf-8?q?Pay_now?="},
        {"to": "=?utf-8?q?Noor?= <noor@example.net>"},
        {"to": "=?utf-8?q?noor?=@example.net"},
        {"references": ["<=?utf-8?q?a?=@b>"]},
        {"attachments": "=?utf-8?q?plan=2Eexe?="},
        {"body": "a lone \r carriage return"},
        {"body": "a null \x00 byte"},
        {"body": 7},
        {"body": None},
        {"body": "one", "body_text": "two"},
        {"body_html": "<b>not carried</b>"},
        {"from": "mallory@example.net"},
        {"X-Header": "1"},
        {"headers": {"Bcc": "mallory@example.net"}},
    ],
)
def test_what_an_email_does_not_carry_is_refused(change: dict[str, Any]) -> None:
    """When it is staged, before anybody reads it."""
    with pytest.raises(MalformedError):
        letter_of({**PLAIN, **change})


def test_what_is_too_much_is_refused() -> None:
    """Recipients, a subject, a text."""
    many = [f"a{number}@example.net" for number in range(RECIPIENTS_MAX + 1)]
    for change in (
        {"to": many},
        {"to": many[:-1], "bcc": "one@example.net"},
        {"subject": "x" * 999},
        {"body": "x" * 262_145},
    ):
        with pytest.raises(TooLargeError):
            letter_of({**PLAIN, **change})
    assert len(letter_of({**PLAIN, "to": many[:-1]}).recipients) == RECIPIENTS_MAX


_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@pytest.mark.promise("sinks.no-argument-becomes-a-header")
@given(subject=_TEXT, body=_TEXT, name=_TEXT)
def test_whatever_is_carried_keeps_its_place(subject: str, body: str, name: str) -> None:
    """The headers that leave are the ones of this list, and the text reads back as it was."""
    args = {"to": f"{name} <noor@example.net>", "subject": subject, "body": body}
    try:
        letter = letter_of(args)
    except RefusalError:
        return
    made = message_from_bytes(letter.message(FROM, "5a" * 32, 0, []).as_bytes(), policy=policy.SMTP)
    assert {each.lower() for each in made.keys()} == {  # noqa: SIM118  # a message is no mapping of headers
        "from", "to", "subject", "date", "message-id", "content-type", "content-transfer-encoding",
        "mime-version",
    }  # fmt: skip
    assert letter.recipients == ("noor@example.net",)
    content = made.get_content().replace("\r\n", "\n")
    assert content.removesuffix("\n") == body.replace("\r\n", "\n").removesuffix("\n")


@pytest.mark.promise("sinks.no-argument-becomes-a-header")
def test_a_file_of_a_folder_is_held_to_the_same_form() -> None:
    """No argument named it; what its path says of its type is not believed."""
    letter = letter_of({**PLAIN, "attachments": "plans"})
    with pytest.raises(MalformedError):
        letter.message(FROM, "5a" * 32, 0, [("plans/=?utf-8?q?plan=2Eexe?=", b"x")])
    made = letter.message(FROM, "5a" * 32, 0, [("data:text/html,plans/plan.pdf", b"%PDF")])
    (attached,) = made.iter_attachments()
    assert (attached.get_content_type(), attached.get_filename()) == ("application/pdf", "plan.pdf")
