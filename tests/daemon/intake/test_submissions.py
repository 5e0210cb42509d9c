"""What a stranger sends, and what has to happen before it is queued."""

import re
from pathlib import Path

import pytest

from .house import House, house
from .manifests import EVERYTHING, TALK, VISIT


@pytest.mark.promise("intake.nothing-is-queued-unconfirmed")
def test_a_link_shows_a_button_and_only_the_button_confirms(open_house: House) -> None:
    """Scanners that open the link, as often as they like, change nothing; the button works once."""
    before = len(open_house.queued())
    assert open_house.send("visit", {"visitor_email": open_house.fresh()}).status == 200
    token = open_house.mails.token()
    for method in ("GET", "HEAD", "GET"):
        assert open_house.ask(method, f"/confirm/{token}", headers={"Accept": "text/html"}).status == 200
    assert len(open_house.queued()) == before
    assert open_house.press(f"/confirm/{token}").json == {"step": "queued", "upload": None}
    assert len(open_house.queued()) == before + 1


@pytest.mark.promise("intake.dead-links-look-alike")
def test_spent_guessed_and_malformed_tokens_are_refused_alike(open_house: House) -> None:
    """Nobody learns from the answer whether a token ever was one; it is that of any unknown path."""
    assert open_house.send("visit", {"visitor_email": open_house.fresh()}).status == 200
    token = open_house.mails.token()
    assert open_house.press(f"/confirm/{token}").status == 200
    pages: set[tuple[int, str]] = set()
    for path in (
        f"/confirm/{token}",
        f"/confirm/{'A' * 43}",
        "/confirm/x",
        f"/u/{token}",
        "/f/none",
        "/none",
    ):
        for method in ("GET", "POST") if path[1] != "f" else ("GET",):
            form = {"Accept": "text/html", "Content-Type": "application/x-www-form-urlencoded"}
            answer = open_house.ask(method, path, b"" if method == "POST" else None, form)
            pages.add((answer.status, answer.text))
    assert len(pages) == 1
    assert pages.pop()[0] == 404


@pytest.mark.promise("intake.a-type-is-served-when-addresses-are-proved")
def test_a_type_without_verification_is_no_type_to_strangers(open_house: House) -> None:
    """Its form, its schema and a submission get the 404 of an unknown type."""
    for path in ("/f/unproved", "/f/unproved/schema.json", "/f/nothing", "/f/..", "/f/visit%2f", "/f/VISIT"):
        answer = open_house.get(path, "*/*")
        assert (answer.status, answer.json) == (404, {"kind": "unknown_path"}), path
    assert open_house.send("unproved", {}).json == {"kind": "unknown_path"}


def test_the_schema_of_a_submission_is_that_of_the_type(open_house: House) -> None:
    """It is JSON Schema, by the name of the version."""
    answer = open_house.get("/f/visit/schema.json", "*/*")
    assert answer.headers["content-type"] == "application/schema+json"
    assert answer.json["$id"] == "urn:mail4agent:request:visit:v1"
    assert answer.json["required"] == ["visitor_email"]


@pytest.mark.promise("intake.a-form-comes-back-as-it-was-filled-in")
def test_a_form_with_mistakes_comes_back_with_all_that_was_typed(open_house: House) -> None:
    """Every error stands beside its field and in the summary, and nothing that was typed is lost."""
    given = [
        ("name", "<b>Ada</b> & Co"), ("mail", "ada"), ("page", "ftp://x"), ("day", "2025-12-31"),
        ("guests", "12"), ("purpose", "other"), ("meals", "tea"), ("meals", "cake"), ("stays", "false"),
    ]  # fmt: skip
    answer = open_house.fill("everything", given)
    assert answer.status == 400
    for field in ("mail", "page", "day", "guests", "tale", "rules"):
        assert f'href="#field-{field}"' in answer.text, field
        assert f'id="error-{field}"' in answer.text, field
        assert re.search(rf'aria-describedby="[^"]*error-{field}"', answer.text), field
    assert 'value="&lt;b&gt;Ada&lt;/b&gt; &amp; Co"' in answer.text
    for kept in ('value="ada"', 'value="ftp://x"', 'value="2025-12-31"', 'value="12"'):
        assert kept in answer.text
    assert '<option value="other" selected>' in answer.text
    assert re.findall(r'name="meals" value="(\w+)" checked', answer.text) == ["tea", "cake"]
    assert 'name="stays" value="false" checked' in answer.text
    assert "<b>" not in answer.text


def test_a_mail_says_nothing_that_somebody_typed(open_house: House) -> None:
    """Whoever gives another's address sends him the title of a form and a link, from our own address."""
    address = open_house.fresh()
    story = {"visitor_email": address, "purpose": "other", "story": "Buy gold at http://evil.example"}
    assert open_house.send("visit", story).status == 200
    mail = open_house.mails.came.get(timeout=20)
    assert (mail["To"], mail["From"]) == (address, "forms@example.org")
    assert mail["Subject"] == "Please confirm: Visit the garden"
    assert "evil.example" not in str(mail)
    assert "gold" not in str(mail)
    assert len(re.findall(r"http://localhost/confirm/[A-Za-z0-9_-]{43}\r\n", mail.get_content())) == 1


def test_confirmed_people_read_the_words_of_the_type(open_house: House) -> None:
    """Its heading and body, with the values that it has places for, escaped."""
    values = {"name": "<i>Ada</i>", "mail": open_house.fresh(), "purpose": "tour", "rules": True}
    answer = open_house.send("everything", values)
    assert answer.json["step"] == "confirm_by_mail", answer.body
    upload = open_house.press(f"/confirm/{open_house.mails.token()}").json["upload"]
    page = open_house.upload(upload, [("poster", "", b"")], "text/html").text
    assert "<h1>Thank you, &lt;i&gt;Ada&lt;/i&gt;</h1>" in page
    assert f"We answer to {values['mail']}." in page
    assert "within two weeks" in page


def test_answers_let_a_browser_do_little(open_house: House) -> None:
    """Pages, refusals and JSON alike; and a page with its style and script is below 30 KB."""
    for answer in (
        open_house.get("/f/everything"),
        open_house.get("/none"),
        open_house.get("/f/visit/schema.json"),
    ):
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["x-content-type-options"] == "nosniff"
    parts = [open_house.get(path) for path in ("/f/everything", "/intake.css", "/intake.js")]
    assert all(part.status == 200 for part in parts)
    assert sum(len(part.body) for part in parts) < 30_000
    assert not re.search(r"<script(?! src)|<style|\bon[a-z]+=|style=", parts[0].text)


@pytest.mark.promise("intake.mails-are-owed-until-taken")
def test_a_mail_that_the_server_refuses_is_owed_still_after_a_restart(tmp_path: Path) -> None:
    """It is in the database with no link, and the submission with it."""
    import sqlite3

    folder = tmp_path / "box"
    with house(folder, VISIT) as made:
        made.mails.refusing = True
        assert made.send("visit", {"visitor_email": "ada@example.net"}).status == 200
        assert made.box("types/list", {}, made.types).status == 200
    with sqlite3.connect(folder / "box.sqlite3") as db:
        assert db.execute("SELECT count(*) FROM letter").fetchone() == (1,)
        assert db.execute("SELECT count(*) FROM queue").fetchone() == (0,)
    db.close()


@pytest.mark.promise("intake.budgets-say-when-to-come-back")
def test_budgets_refuse_with_the_time_to_come_back(tmp_path: Path) -> None:
    """Mails of a recipient and submissions of an address are counted; 429 comes as JSON and as a page."""
    with house(tmp_path / "box", VISIT, submissions_per_hour=5) as made:
        for _ in range(3):
            assert made.send("visit", {"visitor_email": "ada@example.net"}).status == 200
        for address in ("ada@example.net", "ADA@example.net"):
            answer = made.send("visit", {"visitor_email": address})
            assert (answer.status, answer.json["kind"]) == (429, "rate_limited")
            assert 1 <= int(answer.headers["retry-after"]) <= 86_400
        page = made.fill("visit", {"visitor_email": "ben@example.net"})
        assert page.status == 429
        assert int(page.headers["retry-after"]) <= 3_600
        assert "<h1>Too many requests</h1>" in page.text


def test_a_proxy_is_believed_only_when_it_is_named(tmp_path: Path) -> None:
    """Behind a trusted one each visitor has a budget; what he writes into the header himself gives none."""
    with house(
        tmp_path / "box", VISIT, top='trusted_proxies = ["127.0.0.1"]', submissions_per_hour=1
    ) as made:

        def sent(forwarded: str) -> int:
            value = {"visitor_email": made.fresh()}
            return made.send("visit", value, **{"X-Forwarded-For": forwarded}).status

        assert [sent("198.51.100.1"), sent("203.0.113.9"), sent("198.51.100.1")] == [200, 200, 429]
        assert sent("192.0.2.77, 198.51.100.1") == 429
        assert [sent("2001:db8::1"), sent("2001:db8::2"), sent("2001:db8:1::1")] == [200, 429, 200]


def test_without_room_on_the_disk_nothing_is_taken(tmp_path: Path) -> None:
    """A submission gets 503 and a time; what is there is still confirmed and drained."""
    with house(tmp_path / "box", VISIT, TALK, EVERYTHING, free_bytes_min=1_000_000) as made:
        assert made.send("visit", {"visitor_email": made.fresh()}).status == 200
    settings = tmp_path / "box" / "intake.toml"
    text = settings.read_text()
    settings.write_text(re.sub(r"free_bytes_min = \d+", f"free_bytes_min = {2**60}", text))
    from .house import mail_server, serving

    with mail_server() as (mails, _), serving(tmp_path / "box", mails, made.drain, made.types) as full:
        answer = full.send("visit", {"visitor_email": full.fresh()})
        assert (answer.status, answer.json["kind"]) == (503, "overloaded")
        assert answer.headers["retry-after"] == "600"
        assert full.get("/f/visit").status == 200
        assert full.queued() == []
