"""What submitted texts look like, as patterns that the validator runs and the JSON Schema carries.

Addresses are ASCII: a look-alike letter in a domain is another domain. An address of a page has no user part,
behind which another host could hide, and no literal IP version 6.
"""

from typing import Final

#: What is taken off both ends of a text: white space as Unicode has it.
BLANKS: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
#: The same, for a class.
_BLANK = "\\u0009-\\u000d\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"
_CONTROL = "\\u0000-\\u001f\\u007f-\\u009f"

#: One line: no control character, no separator of lines, and nothing blank at either end.
LINE: Final = f"^[^{_CONTROL}{_BLANK}](?:[^{_CONTROL}\\u2028\\u2029]*[^{_CONTROL}{_BLANK}])?$"
#: Several lines: line feeds and tabs as well.
LINES: Final = (
    f"^[^{_CONTROL}{_BLANK}](?:[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]*[^{_CONTROL}{_BLANK}])?$"
)

_ATOM = "[A-Za-z0-9_%+-]+"
_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_TOP = "[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])"
#: A bare address: no quotes, no comment, no display name, and no sign that a shell or a header could read.
#: What is taken here is an address that the quarantine lets an answer go to.
EMAIL: Final = f"^[A-Za-z0-9][A-Za-z0-9_%+-]*(?:\\.{_ATOM})*@(?:{_LABEL}\\.)+{_TOP}$"
#: Its local part is at most 64 characters.
EMAIL_LOCAL: Final = "^[^@]{1,64}@"

_PORT = "(?:6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[0-9]{1,4})"
_PATH = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*"
_QUERY = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*"
URL: Final = (
    f"^[Hh][Tt][Tt][Pp][Ss]?://{_LABEL}(?:\\.{_LABEL})*\\.?(?::{_PORT})?"
    f"(?:/{_PATH})?(?:\\?{_QUERY})?(?:#{_QUERY})?$"
)

DATE: Final = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
INTEGER: Final = "^[+-]?[0-9]{1,16}$"
#: The greatest whole number that every reader of JSON keeps exact.
INTEGER_MAX: Final = 2**53 - 1

SHA256: Final = "^sha256:[0-9a-f]{64}$"
ATTACHMENT_ID: Final = "^[A-Za-z0-9_-]{1,128}$"
#: A name without a separator; it is shown to a person and never used as a path.
FILE_NAME: Final = f"^[^{_CONTROL}/\\\\]{{1,255}}$"
#: The type that each accepted kind of file is.
CONTENT_TYPES: Final = {
    "pdf": "application/pdf", "png": "image/png", "jpeg": "image/jpeg", "jpg": "image/jpeg",
}  # fmt: skip
