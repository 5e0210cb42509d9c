"""A model's endpoint is asked out of nothing, and nothing that it answers does harm."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from mail4agent_core.frontdoor.extraction import (
    ANSWER_FORM,
    Completion,
    ProviderError,
    QuarantinedPass,
    Stop,
)
from mail4agent_core.frontdoor.quarantine import Quarantined
from mail4agent_daemon.model import ANSWER_MAX_BYTES, ChatEndpoint, key_of
from mail4agent_daemon.model_endpoint import Endpoint, ModelUrlError, checked_url

from .model_server import Exchange, ModelServer, completion, extraction, in_turn, model_server, saying

SECRET = "sk-0123456789"


@pytest.fixture(scope="module")
def serving() -> Iterator[ModelServer]:
    """A server for the module."""
    with model_server() as server:
        yield server


@pytest.fixture
def model(serving: ModelServer) -> ModelServer:
    """The server, with nothing asked of it yet."""
    serving.forget()
    return serving


def endpoint(model: ModelServer, **given: Any) -> ChatEndpoint:
    """A provider over the server."""
    url = checked_url(model.url, allow_plain_http=False)
    return ChatEndpoint(Endpoint(url, "small", **given))


def ask(model: ModelServer, **given: Any) -> Completion:
    """One call."""
    return endpoint(model, **given).complete("prose", tokens_max=4_096, form=ANSWER_FORM)


def diagnosis(model: ModelServer, **given: Any) -> str:
    """The words of a call that failed, which hold nothing that the server said."""
    with pytest.raises(ProviderError) as failed:
        ask(model, **given)
    assert failed.value.__cause__ is None
    assert "PLANTED" not in failed.value.diagnosis
    return failed.value.diagnosis


@pytest.mark.promise("frontdoor.the-model-is-asked-out-of-nothing")
def test_a_model_is_asked_with_one_message_and_nothing_besides(
    model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No system prompt, no tools, no history, no cache, no proxy; the budget and the form."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert ask(model, key=SecretStr(SECRET)) == Completion(extraction(), Stop.DONE)
    (asked,), ((path, head),) = model.asked, model.heads
    form = asked.pop("response_format")
    assert asked == {
        "model": "small",
        "messages": [{"role": "user", "content": "prose"}],
        "max_tokens": 4_096,
        "stream": False,
    }
    assert form["json_schema"]["schema"] == ANSWER_FORM
    assert path == "/v1/chat/completions"
    assert head["authorization"] == f"Bearer {SECRET}"
    assert head["accept-encoding"] == "identity"
    assert "cookie" not in head


@pytest.mark.promise("frontdoor.endpoints-are-asked-in-their-way")
def test_an_endpoint_that_takes_no_form_is_asked_without(model: ModelServer) -> None:
    """It refuses the request as a bad one; the next is asked in the way that it took."""
    provider = endpoint(model)

    def formless(exchange: Exchange, asked: dict[str, Any]) -> None:
        refused = "response_format" in asked or "max_tokens" in asked
        exchange.give(400 if refused else 200, b"{}" if refused else completion(extraction()))

    model.answer = formless
    for _ in range(2):
        assert provider.complete("p", tokens_max=1, form=ANSWER_FORM).text == extraction()
    assert ["response_format" in asked for asked in model.asked] == [True, False, True, False, False]
    assert model.asked[-1]["max_completion_tokens"] == 1


@pytest.mark.promise("frontdoor.a-model-cannot-do-harm")
@pytest.mark.parametrize(
    ("status", "words"),
    [
        (302, "leads elsewhere"),
        (400, "bad one"),
        (401, "refused the key"),
        (403, "refused the key"),
        (404, "no such path or model"),
        (418, "refused"),
        (429, "no more requests"),
        (500, "failed"),
        (503, "failed"),
    ],
)
def test_a_status_that_is_no_answer_has_its_own_diagnosis(
    model: ModelServer, status: int, words: str
) -> None:
    """Nothing is followed, and nothing that the endpoint says about it is repeated."""
    model.answer = saying(b'{"error": "PLANTED"}', status, location=f"{model.url}/PLANTED")
    assert words in diagnosis(model)
    assert {path for path, _ in model.heads} == {"/v1/chat/completions"}


def _drip(head: bytes) -> Any:
    def answer(exchange: Exchange, _: dict[str, Any]) -> None:
        exchange.wfile.write(head)
        while not exchange.server.over.wait(0.02):
            exchange.wfile.write(b" ")

    return answer


_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


@pytest.mark.promise("frontdoor.a-model-cannot-do-harm")
@pytest.mark.parametrize(
    "answer",
    [
        lambda exchange, _: exchange.server.over.wait(),
        _drip(_HEAD + b"content-length: 100000\r\n\r\n"),
        _drip(b"HTTP/1.1 200 OK\r\nx: "),
        _drip(b"HTTP/1.1 "),
    ],
    ids=["silence", "a body in drops", "a head in drops", "a status in drops"],
)
def test_an_answer_that_does_not_come_ends_in_time(model: ModelServer, answer: Any) -> None:
    """The deadline is of the whole answer, however it is spread."""
    model.answer = answer
    assert diagnosis(model, timeout_secs=0.3) == "the model did not answer in time"


def _endless(exchange: Exchange, _: dict[str, Any]) -> None:
    exchange.wfile.write(_HEAD + b"\r\n")
    while True:
        exchange.wfile.write(b"x" * 65_536)


BOMB = gzip.compress(b" " * 20_000_000)


@pytest.mark.promise("frontdoor.a-model-cannot-do-harm")
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (saying(b"x" * 10_000_000), f"more than {ANSWER_MAX_BYTES} bytes"),
        (_endless, f"more than {ANSWER_MAX_BYTES} bytes"),
        (saying(BOMB, content_encoding="gzip"), "compressed"),
        (saying(b"[" * 500_000 + b"]" * 500_000), "no completion"),
        (saying(b'{"choices": [' + b"{}," * 300_000 + b"{}]}"), "no completion"),
        (saying(b"<html>PLANTED"), "no completion"),
        (saying(b""), "no completion"),
        (saying(b"\xff\xfe"), "no completion"),
        (saying(b'{"error": "PLANTED"}'), "no completion"),
        (saying(b'{"choices": []}'), "no completion"),
        (saying(b'{"choices": [{"message": {"content": 7}}]}'), "no completion"),
        (saying(b'{"choices": [{"message": {"content": [7]}}]}'), "no completion"),
        (saying(b'{"choices": [{"message": {"content": "\\ud83d"}}]}'), "no completion"),
        (lambda exchange, _: exchange.wfile.write(b"PLANTED\r\n\r\n"), "cannot be reached"),
        (lambda exchange, _: exchange.connection.close(), "cannot be reached"),
    ],
    ids=[
        "10 MB",
        "endless",
        "a gzip bomb",
        "a deep bomb",
        "a wide bomb",
        "a page",
        "nothing",
        "no UTF-8",
        "an error",
        "no choices",
        "a number",
        "parts of numbers",
        "half a pair",
        "no HTTP",
        "hung up",
    ],
)
def test_an_answer_that_is_no_completion_is_a_diagnosis(model: ModelServer, answer: Any, words: str) -> None:
    """However large, deep or strange: bounded, never unpacked, never repeated."""
    model.answer = answer
    assert words in diagnosis(model, timeout_secs=20.0)


def test_an_endpoint_that_is_not_there_is_a_diagnosis() -> None:
    """A port where nobody listens."""
    url = checked_url("http://127.0.0.1:9/v1", allow_plain_http=False)
    with pytest.raises(ProviderError) as failed:
        ChatEndpoint(Endpoint(url, "small")).complete("p", tokens_max=1, form={})
    assert "cannot be reached" in failed.value.diagnosis


STOPS = [
    (completion("x", "length"), Completion("x", Stop.LIMIT)),
    (completion(None, "length", reasoning_content="long"), Completion("", Stop.LIMIT)),
    (completion("x", "content_filter"), Completion("x", Stop.REFUSED, "filter")),
    (completion(None, refusal="PLANTED"), Completion("", Stop.REFUSED, "model")),
    (
        completion("x", "tool_calls", tool_calls=[{"function": {"name": "PLANTED"}}]),
        Completion("x", Stop.DONE),
    ),
    (completion([{"type": "text", "text": "a"}, {"text": "b"}]), Completion("ab", Stop.DONE)),  # pyright: ignore[reportArgumentType]
]


@pytest.mark.promise("frontdoor.refusal-and-truncation-are-their-own-diagnoses")
@pytest.mark.parametrize(
    ("body", "said"), STOPS, ids=["length", "thinking", "filter", "refusal", "tools", "parts"]
)
def test_why_a_model_stopped_is_told_apart(model: ModelServer, body: bytes, said: Completion) -> None:
    """Length, refusal and filter each have a meaning; a call of a tool that it was not given has none."""
    model.answer = saying(body)
    assert ask(model) == said


@pytest.mark.promise("frontdoor.extraction-has-two-rounds")
def test_the_pass_over_a_real_endpoint_mends_a_chatty_answer(model: ModelServer) -> None:
    """Prose instead of JSON is asked for once more, in a message of its own and not as a history."""
    model.answer = in_turn(
        saying(completion("I would rather talk.")), saying(completion(f"Sure:\n{extraction()}"))
    )
    made = QuarantinedPass(endpoint(model))(Quarantined([("story", "We would like to meet.")]))
    assert made.topic == "collaboration"
    assert [len(asked["messages"]) for asked in model.asked] == [1, 1]
    assert "We would like to meet." in json.dumps(model.asked[1])


@pytest.mark.promise("frontdoor.prose-goes-out-encrypted")
@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:8080/v1", "http://localhost/v1", "http://[::1]:1/v1", "https://api.example.org/v1"],
)
def test_an_endpoint_is_on_this_machine_or_encrypted(url: str) -> None:
    """Loopback in the clear, anything by https."""
    assert checked_url(url, allow_plain_http=False)


@pytest.mark.promise("frontdoor.prose-goes-out-encrypted")
def test_another_machine_in_the_clear_needs_a_person_to_say_so() -> None:
    """A model on a machine of one's own network is asked over http where that is allowed."""
    for url in (
        "http://192.168.1.7:8080/v1",
        "http://models.example.org/v1",
        "http://127.0.0.1.example.org/",
    ):
        assert checked_url(url, allow_plain_http=True)
        with pytest.raises(ModelUrlError):
            checked_url(url, allow_plain_http=False)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8080",
        "ftp://127.0.0.1/",
        "http://",
        "http://user:pass@127.0.0.1/",
        "http://127.0.0.1/?key=a",
        "http://127.0.0.1/#a",
        "http://127.0.0.1:99999/",
        "file:///etc/passwd",
        "http://a b/",
    ],
)
def test_what_is_no_address_of_an_endpoint_is_refused(url: str) -> None:
    """Whatever is allowed besides."""
    with pytest.raises(ModelUrlError):
        checked_url(url, allow_plain_http=True)


def test_the_key_is_read_from_its_file_for_each_call(model: ModelServer, tmp_path: Path) -> None:
    """A key that was changed is the next call's; one that is none ends the call before it is made."""
    path = tmp_path / "model.key"
    for key in ("first", "second"):
        path.write_text(f"{key}\n")
        ask(model, key=path)
    assert [head["authorization"] for _, head in model.heads] == ["Bearer first", "Bearer second"]
    for raw in (b"", b"two words", b"a\r\nx-evil: 1", b"\xff", b"a" * 5_000):
        path.write_bytes(raw)
        assert diagnosis(model, key=path) == "the model's key is none that a header can carry"
    assert len(model.heads) == 2
    assert diagnosis(model, key=tmp_path / "gone") == "the file of the model's key cannot be read"
    assert key_of(None) is None
