"""What is sent to do harm: each gets a named refusal or the form back, and nothing is stored."""

import http.client
import json
import random

import pytest

from .house import BOUND_SECS, FORM, House

MAIL = b"visitor_email=ada%40example.net"


@pytest.mark.parametrize(
    "raw",
    [
        b"visitor_email=%",
        b"visitor_email=%4",
        b"visitor_email=%zz",
        b"visitor_email=%ff%fe",
        b"%c3=x",
        b"a=%ed%a0%80",
    ],
)
def test_broken_encoding_is_refused(open_house: House, raw: bytes) -> None:
    """Percent signs that encode nothing, and bytes that are no UTF-8, are guessed at nowhere."""
    answer = open_house.fill("visit", raw, Accept="*/*")
    assert (answer.status, answer.json["kind"], answer.json["field"]) == (400, "malformed", "request")


@pytest.mark.parametrize("count", [1_001, 10_000])
def test_too_many_fields_are_not_looked_at(open_house: House, count: int) -> None:
    """Ten thousand fields, one name or many, are one refusal."""
    for raw in (b"&".join(b"days=mon" for _ in range(count)), b"&".join(b"f%d=1" % n for n in range(count))):
        answer = open_house.fill("visit", raw, Accept="*/*")
        assert (answer.status, answer.json["kind"]) == (400, "malformed")


def test_a_single_field_given_twice_is_an_error_and_choices_are_all_kept(open_house: House) -> None:
    """Nobody chooses for the stranger which of two values he meant."""
    twice = open_house.fill("visit", MAIL + b"&" + MAIL)
    assert twice.status == 400
    assert "Email is given more than once" in twice.text
    address = open_house.fresh()
    good = open_house.fill("visit", [("visitor_email", address), ("days", "mon"), ("days", "tue")])
    assert good.status == 200
    assert open_house.press(f"/confirm/{open_house.mails.token()}").status == 200
    assert open_house.queued()[-1]["values"] == {"visitor_email": address, "days": ["mon", "tue"]}


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"visitor_email": "a@example.net", "extra": 1}, "request"),
        ({"visitor_email": "a@example.net", "_slot": "x"}, "request"),
        ({"visitor_email": "a@example.net", "story": "hidden"}, "story"),
        ({"visitor_email": "a@example.net", "purpose": "other"}, "story"),
        ({"visitor_email": "a@example.net", "days": ["mon", "mon"]}, "days"),
        ({"visitor_email": {"a": 1}}, "visitor_email"),
        ({}, "visitor_email"),
        (b'{"visitor_email":"a@example.net","visitor_email":"b@example.net"}', "request"),
        (b'{"visitor_email":"\\ud800@example.net"}', "request"),
        (b"[]", "values"),
        (b"{", "request"),
        (b"[" * 100_000, "request"),
    ],
)
def test_json_that_is_no_submission_is_named(open_house: House, value: object, field: str) -> None:
    """Unknown and hidden fields, keys given twice, other types, and what is no JSON."""
    answer = open_house.send("visit", value)
    assert (answer.status, answer.json["kind"], answer.json["field"]) == (400, "malformed", field)


@pytest.mark.promise("intake.an-address-is-what-it-seems")
@pytest.mark.parametrize(
    "address",
    [
        "ada@example.net\r\nBcc: eve@example.net",
        "ada@example.net\nSubject: hello",
        "ada@example.net%0ABcc:eve@example.net",
        "ada@example.net,eve@example.net",
        '"ada\r\n"@example.net',
        "Ada <ada@example.net>",
        "ada@ex\u0430mple.net",
        "ada@example\u3002net",
        "ada@example.net\u202e",
        "\uff41da@example.net",
        "ada@[127.0.0.1]",
        "ada@localhost",
        "ada@" + "a" * 64 + ".net",
        "a" * 65 + "@example.net",
    ],
)
def test_an_address_that_is_more_or_other_than_it_seems_is_refused(open_house: House, address: str) -> None:
    """Injected headers, several addresses, display names, and letters that only look like ASCII."""
    answer = open_house.send("visit", {"visitor_email": address})
    assert (answer.status, answer.json["field"]) == (400, "visitor_email")


def test_an_internationalised_domain_is_shown_as_it_is_encoded(open_house: House) -> None:
    """Punycode is never decoded, so that no look-alike stands where a person decides."""
    address = "ada@xn--exmple-cua.net"
    assert open_house.confirmed("visit", {"visitor_email": address}).status == 200
    assert open_house.queued()[-1]["values"]["visitor_email"] == address


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/json; charset=utf-16",
        "multipart/form-data; boundary=x",
        "application/x-json",
        "",
    ],
)
def test_other_content_types_are_refused(open_house: House, kind: str) -> None:
    """A form takes two, to the letter; packed bodies are not unpacked."""
    answer = open_house.ask("POST", "/f/visit", b"{}", {"Content-Type": kind})
    assert (answer.status, answer.json["kind"]) == (415, "unsupported_media_type")
    packed = open_house.send("visit", {}, **{"Content-Encoding": "gzip"})
    assert packed.json["kind"] == "unsupported_media_type"


@pytest.mark.promise("intake.a-body-is-bounded-before-it-is-read")
@pytest.mark.parametrize(
    ("path", "length"),
    [("/f/visit", 2_147_483_648), ("/f/visit", 3_145_729), ("/box/types/push", 33_700_000)],
)
def test_a_body_that_is_too_large_is_refused_by_its_head(open_house: House, path: str, length: int) -> None:
    """Two gigabytes are refused before a byte of them is sent."""
    connection = http.client.HTTPConnection("127.0.0.1", open_house.port, timeout=BOUND_SECS)
    connection.putrequest("POST", path)
    for name, value in (
        ("Content-Type", "application/json"),
        ("Content-Length", str(length)),
        ("Authorization", f"Bearer {open_house.types}"),
    ):
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    assert (response.status, json.loads(response.read())["kind"]) == (413, "request_too_large")
    connection.close()


def test_pages_of_other_sites_and_other_names_are_refused(open_house: House) -> None:
    """An Origin that is not the form's own, and a Host that is another's."""
    value = {"visitor_email": open_house.fresh()}
    assert open_house.send("visit", value, Origin="https://evil.example").json["kind"] == "forbidden_origin"
    assert open_house.send("visit", value, Origin="null").json["kind"] == "forbidden_origin"
    assert open_house.send("visit", value, Host="evil.example").json["kind"] == "forbidden_host"


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"])
def test_other_methods_are_refused(open_house: House, method: str) -> None:
    """With the ones that the path takes."""
    answer = open_house.ask(method, "/f/visit")
    assert (answer.status, answer.json["kind"]) == (405, "method_not_allowed")
    assert answer.headers["allow"] == "GET, HEAD, POST"
    assert open_house.get("/f/visit?x=1", "*/*").json["kind"] == "malformed"


def test_random_bytes_never_make_a_fault_of_ours(open_house: House) -> None:
    """Three hundred bodies of chance: each is refused by name, or the form comes back."""
    chance = random.Random(20_240_229)
    alphabet = [
        b"%",
        b"&",
        b"=",
        b"+",
        b"visitor_email",
        b"days",
        b"\xff",
        b"\x00",
        b"{",
        b'"',
        b"a@b.net",
        b"%41",
    ]
    for number in range(300):
        raw = b"".join(chance.choice(alphabet) for _ in range(chance.randrange(12)))
        kind = FORM if number % 2 else "application/json"
        answer = open_house.ask("POST", "/f/visit", raw, {"Content-Type": kind})
        assert answer.status in {200, 400, 429}, (raw, answer)
        if answer.status == 400:
            assert answer.json["kind"] in {"malformed", "too_large"}, raw
