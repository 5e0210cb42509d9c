"""The pages in a real browser: with a script and without, each kind of field, each page by axe-core."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from mail4agent_api.codec import decode_value
from mail4agent_api.frontdoor import FrontdoorRecord
from tests.browser import chromium, serious
from tests.daemon.drain.home import Home, home_of

from .house import House
from .manifests import EVERYTHING

PDF = b"%PDF-1.4\n1 0 obj\n%%EOF\n"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for the module."""
    with chromium() as one:
        yield one


@pytest.fixture(params=[True, False], ids=["script", "no script"])
def context(request: pytest.FixtureRequest, browser: Browser) -> Iterator[BrowserContext]:
    """A browser's context that runs scripts, and one that does not; nothing may break the pages' policy."""
    made = browser.new_context(java_script_enabled=request.param)
    made.set_default_timeout(20_000)
    yield made
    made.close()


def fill_in(page: Page, address: str, *, script: bool) -> None:
    """Fill in each kind of field as a person does, step by step where there are steps to see."""
    page.get_by_label("Your name").fill("Ada & Co")
    page.get_by_label("Email").fill(address)
    page.get_by_label("Your page").fill("https://example.org/~ada?x=1")
    if script:
        page.get_by_role("button", name="Next").click()
    page.get_by_label("Day").fill("2026-12-24")
    page.get_by_label("Guests").fill("3")
    page.get_by_label("Reason").select_option("other")
    page.get_by_label("Tell us").fill("One line\nand <another>")
    page.get_by_label("Lunch").check()
    page.get_by_label("Cake").check()
    page.get_by_role("group", name="overnight").get_by_label("No", exact=True).check()
    page.get_by_label("rules of the garden").check()


@pytest.fixture(scope="module")
def home(open_house: House, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A home that knows the type of the form, and has taken what the tests of other files left."""
    with home_of(tmp_path_factory.mktemp("home"), EVERYTHING) as made:
        open_house.box("release", {"holder": "home"})
        made.drained(open_house.url, open_house.drain)
        yield made


@pytest.mark.promise("intake.the-form-works-without-a-script", "drain.brings-each-submission-home-once")
def test_each_kind_of_field_is_filled_in_confirmed_and_completed(
    open_house: House, home: Home, context: BrowserContext, request: pytest.FixtureRequest
) -> None:
    """The mail that the server got leads to the button, the button to the files; all of it comes home."""
    script = "no script" not in request.node.callspec.id
    address = open_house.fresh()
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.goto(f"{open_house.url}/f/everything")
    assert page.get_by_label("Tell us").is_visible() is False or not script
    fill_in(page, address, script=script)
    page.get_by_role("button", name="Send").click()
    assert page.get_by_role("heading", name="Check your email").is_visible()
    page.goto(f"{open_house.url}/confirm/{open_house.mails.token()}")
    page.get_by_role("button", name="Confirm").click()
    page.get_by_label("Poster").set_input_files(
        {"name": "a poster.pdf", "mimeType": "text/html", "buffer": PDF}
    )
    page.get_by_role("button", name="Send the files").click()
    assert page.get_by_role("heading", name="Thank you, Ada & Co").is_visible()
    row = open_house.queued()[-1]
    entered = {
        "name": "Ada & Co", "mail": address, "page": "https://example.org/~ada?x=1", "day": "2026-12-24",
        "guests": 3, "purpose": "other", "tale": "One line\nand <another>", "meals": ["lunch", "cake"],
        "stays": False, "rules": True,
    }  # fmt: skip
    assert row["values"] == entered
    assert [each["filename"] for each in row["attachments"]] == ["a poster.pdf"]
    assert wrong == []

    open_house.box("release", {"holder": "home"})
    assert home.drained(open_house.url, open_house.drain)["invalid"] == 0
    record = home.record_of(row["seq"])
    assert decode_value(FrontdoorRecord, record).valid
    assert {name: value for name, value in record["values"].items() if name in entered} == entered
    (attachment,) = record["attachments"]
    assert (home.daemon.home / "requests" / attachment["path"]).read_bytes() == PDF


@pytest.mark.promise("intake.the-form-works-without-a-script")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_serious_finding(open_house: House, browser: Browser, scheme: str) -> None:
    """Form, form with errors, sent, button, files, files with errors, done and refusal, as at 400 %."""
    context = browser.new_context(
        color_scheme="dark" if scheme == "dark" else "light", viewport={"width": 320, "height": 640}
    )
    page = context.new_page()
    page.set_default_timeout(20_000)
    found: dict[str, list[str]] = {}

    def look(name: str) -> None:
        found[name] = serious(page)
        wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
        found[name] += ["has to be scrolled sideways"] if wide else []

    page.goto(f"{open_house.url}/f/everything")
    look("form")
    page.goto(f"{open_house.url}/f/talk")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#summary")).to_be_focused()
    page.get_by_role("link", name="Email").click()
    expect(page.locator("#field-email")).to_be_focused()
    look("form with errors")
    page.get_by_label("Email").fill(open_house.fresh())
    page.get_by_role("button", name="Send").click()
    look("sent")
    page.goto(f"{open_house.url}/confirm/{open_house.mails.token()}")
    look("button")
    page.get_by_role("button", name="Confirm").click()
    page.get_by_role("button", name="Send the files").wait_for()
    look("files")
    page.get_by_role("button", name="Send the files").click()
    expect(page.locator("#summary")).to_be_focused()
    look("files with errors")
    page.get_by_label("Slides").set_input_files({"name": "a.pdf", "mimeType": "text/plain", "buffer": PDF})
    page.get_by_role("button", name="Send the files").click()
    page.get_by_role("heading", name="Thank you").wait_for()
    look("done")
    page.goto(f"{open_house.url}/f/none")
    look("refused")
    context.close()
    assert {name: faults for name, faults in found.items() if faults} == {}
