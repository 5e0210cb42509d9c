"""Generate ``mail4agent_api/operations.py`` and ``mail4agent_api/errors.py`` from the table of operations and
the refusal family.
"""

import json
from typing import Any

from bundle import SCHEMAS, imports, seam_of

HEADER = "# Generated from {source} by tools/generate.py; do not edit.\n"

OPERATION = '''
@cache
def _type(name: str) -> type[WireModel]:
    """The type of ``seam.Name``. Its seam is imported for it: most programs speak one or two of them."""
    seam, _, own = name.partition(".")
    return getattr(import_module(f"mail4agent_api.{seam}"), own)


@dataclass(frozen=True, slots=True)
class Tool:
    """How the MCP door shows an operation."""

    name: str
    description: str
    #: ``seam.Name`` of what its caller gives and gets.
    request_name: str
    result_name: str
    #: Whether a client that defers tools shows this one from the start.
    always_load: bool
    #: What of its row's capabilities it acts with; none: whatever its caller has.
    capability: tuple[str, ...] = ()

    @property
    def request(self) -> type[WireModel]:
        """The type of its arguments."""
        return _type(self.request_name)

    @property
    def result(self) -> type[WireModel]:
        """The type of its answer."""
        return _type(self.result_name)


@dataclass(frozen=True, slots=True)
class Operation:
    """One row of the table of operations."""

    name: str
    method: str
    path: str
    summary: str
    authenticated: bool
    #: The caller needs any one of these; none: any valid caller.
    capability: tuple[str, ...]
    #: ``seam.Name`` of what it takes, if anything, and of what it answers.
    request_name: str | None
    response_name: str
    effect: Literal["read", "write"]
    #: When a lost answer may be asked for again.
    retry: Literal["always", "key", "keys", "never"]
    #: An empty body and any content type are taken as an empty object.
    lenient_body: bool
    #: Every refusal kind that it may answer with.
    refusals: tuple[str, ...]
    doors: tuple[str, ...]
    tool: Tool | None = None

    @property
    def request(self) -> type[WireModel] | None:
        """The type of its request, if it takes one."""
        return None if self.request_name is None else _type(self.request_name)

    @property
    def response(self) -> type[WireModel]:
        """The type of its answer."""
        return _type(self.response_name)
'''

ERROR_BASE = '''
class RefusalError(Exception):
    """A refusal on its way: the wire object and the HTTP status that the contract gives its kind."""

    status: ClassVar[int]

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.kind)
        self._refusal: Any = refusal

    @property
    def refusal(self) -> Refusal:
        """The wire object."""
        return self._refusal

    @property
    def kind(self) -> str:
        """The refusal's kind, the tag of the wire object."""
        return self.refusal.kind
'''

ERROR_OF = '''
def error_of(refusal: Refusal) -> RefusalError:
    """Return the exception of a refusal's kind, holding that very refusal."""
    error = _CLASSES[refusal.kind]
    made = error.__new__(error)
    RefusalError.__init__(made, refusal)
    return made


#: The HTTP status of each kind.
STATUS: Mapping[str, int] = MappingProxyType({kind: error.status for kind, error in _CLASSES.items()})
'''


def table() -> dict[str, Any]:
    """The table of operations as it stands in ``schemas/operations.json``."""
    return json.loads((SCHEMAS / "operations.json").read_text("utf-8"))


def operations_module() -> str:
    """The text of ``mail4agent_api/operations.py``, unformatted."""
    rows, every = table()["operations"], tuple(table()["every"])
    lines = [
        HEADER.format(source="schemas/operations.json"),
        '"""The table of operations."""\n',
        "from collections.abc import Mapping",
        "from dataclasses import dataclass",
        "from functools import cache",
        "from importlib import import_module",
        "from types import MappingProxyType",
        "from typing import Literal\n",
        "from mail4agent_api._wire import WireModel",
        OPERATION,
        "#: The version of the contract, by Semantic Versioning.",
        f"CONTRACT_VERSION = {table()['version']!r}\n",
        f"#: Refusals that any operation may answer with.\nEVERY: tuple[str, ...] = {every!r}\n",
        "OPERATIONS: Mapping[str, Operation] = MappingProxyType({",
    ]
    lines += [
        f"{row['name']!r}: Operation(name={row['name']!r}, method={row['method']!r}, path={row['path']!r}, "
        f"summary={row['summary']!r}, authenticated={row.get('authenticated', True)}, "
        f"capability={tuple(row['capability'])!r}, request_name={_named(row['request'])!r}, "
        f"response_name={_named(row['response'])!r}, "
        f"effect={row['effect']!r}, retry={row.get('retry', 'never')!r}, "
        f"lenient_body={row.get('lenient_body', False)}, doors={tuple(row['doors'])!r}, "
        f"refusals=({''.join(f'{r!r}, ' for r in row['refusals'])}*EVERY,){_tool(row)}),"
        for row in rows
    ]
    return "\n".join([*lines, "})\n"])


def _named(name: str | None) -> str | None:
    return None if name is None else f"{seam_of(name)}.{name}"


def _tool(row: dict[str, Any]) -> str:
    tool = row.get("tool")
    if tool is None:
        return ""
    return (
        f", tool=Tool(name={tool['name']!r}, description={tool['description']!r}, "
        f"request_name={_named(tool['request'])!r}, result_name={_named(tool['result'])!r}, "
        f"always_load={tool.get('always_load', False)}, "
        f"capability={tuple(tool.get('capability', ()))!r})"
    )


def errors_module(definitions: dict[str, Any]) -> str:
    """The text of ``mail4agent_api/errors.py``, unformatted."""
    mapping = definitions["Refusal"]["discriminator"]["mapping"]
    names = {kind: ref.rpartition("/")[2] for kind, ref in mapping.items()}
    used = {
        p["$ref"].rpartition("/")[2]
        for n in names.values()
        for k, p in definitions[n]["properties"].items()
        if k != "kind"
    }
    hints = {
        u: u if definitions[u].get("x-distinct") else "int" if definitions[u]["type"] == "integer" else "str"
        for u in used
    }
    types = {*names.values(), "Refusal", *(h for h in hints.values() if h not in ("int", "str"))}
    lines = [
        HEADER.format(source="schemas/common/refusal.schema.json"),
        '"""One exception class for each kind of refusal."""\n',
        "from collections.abc import Mapping",
        "from types import MappingProxyType",
        "from typing import Any, ClassVar\n",
        *imports(types),
        ERROR_BASE,
    ]
    for name in names.values():
        fields = {
            key: hints[value["$ref"].rpartition("/")[2]]
            for key, value in definitions[name]["properties"].items()
            if key != "kind"
        }
        signature = "".join(f", {key}: {hint}" for key, hint in fields.items())
        arguments = ", ".join(f"{key}={key}" for key in fields)
        lines.append(
            f"class {name}Error(RefusalError):\n"
            f'    """{definitions[name]["description"].capitalize()}."""\n\n'
            f"    status: ClassVar[int] = {definitions[name]['x-httpStatus']}\n\n"
            f"    def __init__(self{', *' if fields else ''}{signature}) -> None:\n"
            f"        super().__init__({name}({arguments}))\n\n"
            f"    @property\n    def refusal(self) -> {name}:\n"
            f'        """The wire object."""\n        return self._refusal\n\n'
        )
    lines.append(
        "_CLASSES: Mapping[str, type[RefusalError]] = {"
        + ", ".join(f"{k!r}: {n}Error" for k, n in names.items())
        + "}\n"
    )
    return "\n".join([*lines, ERROR_OF])
