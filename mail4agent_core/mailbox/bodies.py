"""What a message may say."""

from mail4agent_api.bounds import BODY_MAX_BYTES
from mail4agent_api.codec import decode_value
from mail4agent_api.errors import MalformedError, RefusalError, TooLargeError
from mail4agent_api.mail import Body


def checked_body(text: str, max_bytes: int) -> str:
    """The text itself. Raises TooLargeError past the bound, MalformedError for a blank one and for control
    characters other than line feed and tab.
    """
    size, limit = len(text.encode("utf-8", "surrogatepass")), min(max_bytes, BODY_MAX_BYTES)
    if size > limit:
        raise TooLargeError(field="body", limit=limit, actual=size)
    if not text.strip():
        raise MalformedError(field="body", reason="must not be blank")
    try:
        return decode_value(Body, text)
    except RefusalError:
        pass
    raise MalformedError(
        field="body", reason="must be text; of the control characters it holds only line feed and tab"
    )
