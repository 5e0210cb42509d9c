"""Generate the methods of the Python clients, one for each row of the table of operations, for both
transports.
"""

from typing import Any

from bundle import imports, seam_of
from operations import HEADER

PREFIX = "mail."
#: The seam whose types are imported with the methods; every method's errors are of it.
SEAM = "mail"
#: What a definition looks like as an argument, and what turns the argument into the definition.
COMFORTS = {
    "Address": ("Address | str", "address"),
    "ParticipantAddress": ("ParticipantAddress | str", "participant"),
    "Position": ("Position | Message", "position"),
}
SCALARS = {"string": "str", "integer": "int", "boolean": "bool"}

HEAD = '''
class {name}(ABC):
    """{summary}"""

    @abstractmethod
    {a}def _ask(self, operation: str, response: type[R], request: WireModel | None) -> R:
        """Carry out one operation."""
'''


def method_name(operation: str) -> str:
    """The method of an operation: ``mail.send_many`` is ``send_many``, ``admin.room.list`` is
    ``admin_room_list``.
    """
    return operation.removeprefix(PREFIX).replace(".", "_")


def _error(kind: str) -> str:
    return "".join(word.capitalize() for word in kind.split("_")) + "Error"


def _hint(node: dict[str, Any], definitions: dict[str, Any], used: set[str]) -> tuple[str, str | None]:
    """The type of an argument and its converter."""
    if "anyOf" in node:
        inner, converter = _hint(node["anyOf"][0], definitions, used)
        return f"{inner} | None", converter
    if "allOf" in node:
        return _hint(node["allOf"][0], definitions, used)
    if node.get("type") == "array":
        inner, _ = _hint(node["items"], definitions, used)
        return f"Sequence[{inner}]", "listed"
    if "$ref" not in node:
        return SCALARS[node["type"]], None
    name = node["$ref"].rpartition("/")[2]
    definition = definitions[name]
    if name in COMFORTS:
        hint, converter = COMFORTS[name]
        used.update(part for part in hint.split(" | ") if part != "str")
        return hint, converter
    if "enum" in definition:
        return f"Literal[{', '.join(map(repr, definition['enum']))}]", None
    if definition.get("type") in SCALARS:
        return SCALARS[definition["type"]], None
    used.add(name)
    return name, None


def _arguments(request: str, definitions: dict[str, Any], used: set[str]) -> tuple[list[str], dict[str, str]]:
    """The keyword arguments of a request, required ones first, and the converters of those that have one."""
    definition = definitions[request]
    required: list[str] = []
    optional: list[str] = []
    converters: dict[str, str] = {}
    for name, node in definition.get("properties", {}).items():
        hint, converter = _hint(node, definitions, used)
        if converter is not None:
            converters[name] = converter
        if name in definition.get("required", ()):
            required.append(f"{name}: {hint}")
        else:
            optional.append(f"{name}: {hint} = {'()' if node['default'] == [] else repr(node['default'])}")
    return required + optional, converters


def _method(row: dict[str, Any], definitions: dict[str, Any], used: set[str], a: str) -> str:
    name, request, response = method_name(row["name"]), row["request"], row["response"]
    raises = ", ".join(_error(kind) for kind in row["refusals"])
    text = f'"""{row["summary"]}' + (f"\n\n        Raises {raises}.\n        " if raises else "") + '"""'
    wait = "await " if a else ""
    text += _local({response} if request is None else {request, response})
    if request is None:
        return f"""
    {a}def {name}(self) -> {response}:
        {text}
        return {wait}self._ask({row["name"]!r}, {response}, None)
"""
    used.add(request)
    arguments, converters = _arguments(request, definitions, used)
    if not arguments:
        return f"""
    {a}def {name}(self, request: {request} | None = None, /) -> {response}:
        {text}
        return {wait}self._ask({row["name"]!r}, {response}, {request}() if request is None else request)
"""
    converted = "".join(f", {key}={value}" for key, value in converters.items())
    return f"""
    @overload
    {a}def {name}(self, request: {request}, /) -> {response}: ...
    @overload
    {a}def {name}(self, /, *, {", ".join(arguments)}) -> {response}: ...
    {a}def {name}(self, request: {request} | None = None, /, **fields: Any) -> {response}:
        {text}
        return {wait}self._ask({row["name"]!r}, {response}, request_of({request}, request, fields{converted}))
"""


def _local(names: set[str]) -> str:
    """The lines that import a method's types of other seams, which most callers never need."""
    lines = imports(name for name in names if seam_of(name) != SEAM)
    return "".join(f"\n        {line}" for line in lines) + ("\n" if lines else "")


def methods_module(definitions: dict[str, Any], table: dict[str, Any]) -> str:
    """The text of the module, unformatted."""
    rows = table["operations"]
    used = {row["response"] for row in rows}
    classes = [
        "".join(
            [
                HEAD.format(name=name, summary=summary, a=a),
                *(_method(row, definitions, used, a) for row in rows),
            ]
        )
        for name, summary, a in (
            ("AsyncMethods", "Every operation as a coroutine.", "async "),
            ("SyncMethods", "Every operation as a function.", ""),
        )
    ]
    return "\n".join(
        [
            HEADER.format(source="schemas/operations.json"),
            '"""One method for each operation: from the request, or its fields, to the response."""\n',
            "from __future__ import annotations\n",
            "from abc import ABC, abstractmethod",
            "from collections.abc import Sequence",
            "from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload\n",
            *imports(name for name in used if seam_of(name) == SEAM),
            "from mail4agent_api._wire import WireModel",
            "from mail4agent_client.arguments import address, listed, participant, position, request_of\n",
            "if TYPE_CHECKING:",
            *(f"    {line}" for line in imports(name for name in used if seam_of(name) != SEAM)),
            '\nR = TypeVar("R", bound=WireModel)\n',
            *classes,
        ]
    )
