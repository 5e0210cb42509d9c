"""Make every generated file from ``schemas/``, and the plots from the figures.

With ``--check`` only say what would change.

    python tools/generate.py [--check]

Exit status 1 with a diff when ``--check`` finds drift, a hand edit, a missing file or an orphan.
"""

import argparse
import difflib
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.append(str(Path(__file__).resolve().parent.parent / "benchmarks"))

import bounds
import client
import intake
import openapi
import operations
import plots  # pyright: ignore[reportMissingImports]  # stands with the figures
import reference
import toolbox
import typescript
import typescript_client
import typescript_definitions
from bundle import SEAMS, bundle, contract, map_references, seam_of
from canonical import pretty

ROOT = Path(__file__).resolve().parent.parent
RUFF = (sys.executable, "-m", "ruff")
#: What the generated types are made of besides models, and what in a definition asks for it.
WIRE = {
    "ByType": ("x-byType", True),
    "Declared": ("x-declared", True),
    "JsonInteger": ("type", "integer"),
    "MaxUtf8Bytes": ("x-maxUtf8Bytes", None),
    "WireStr": ("x-distinct", True),
}
HEADER = "# Generated from {source} by tools/generate.py; do not edit."
#: What the first line of every generated text says, and the folders in which a file that says so must be one
#: of ours.
MARK = "by tools/generate.py; do not edit"
FOLDERS = ("mail4agent_api", "schemas", "clients/typescript/src", "clients/python", "docs")
#: Copies of generated files as they were released.
RELEASED = "schemas/released/"


def python_types(seam: str) -> str:
    """Run datamodel-codegen on a seam's own definitions and return the module's text.

    What the seam takes from another one is imported from that one's module, so that an identifier is one type
    whichever seam it is met in.
    """

    def placed(reference: str) -> str:
        home = seam_of(reference.rpartition("/")[2])
        return reference if home == seam else f"{home}.bundle.json{reference}"

    document = bundle(seam)
    own = {name: node for name, node in document["$defs"].items() if seam_of(name) == seam}
    others = [other for other in SEAMS if other != seam]
    parts = [
        part
        for part, (keyword, value) in WIRE.items()
        if any(keyword in node and value in {None, node[keyword]} for node in own.values())
    ]
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / f"{seam}.bundle.json", Path(folder) / f"{seam}.py"
        source.write_text(pretty({**document, "$defs": map_references(own, placed)}), "utf-8")
        for other in others:
            (Path(folder) / f"{other}.bundle.json").write_text(pretty(bundle(other)), "utf-8")
        mapped = [f"{other}.bundle.json=mail4agent_api.{other}" for other in others]
        command = [
            sys.executable, "-m", "datamodel_code_generator",
            "--input", str(source), "--output", str(target), "--ignore-pyproject",
            "--input-file-type", "jsonschema", "--schema-version", "2020-12",
            "--output-model-type", "pydantic_v2.BaseModel", "--target-python-version", "3.11",
            "--target-pydantic-version", "2.12",
            "--use-annotated", "--use-type-alias", "--strict-nullable", "--skip-root-model",
            "--use-one-literal-as-default",
            "--enable-faux-immutability", "--disable-timestamp", "--use-schema-description",
            "--enum-field-as-literal", "all",
            "--field-extra-keys", "x-maxUtf8Bytes", "x-distinct", "x-declared", "x-byType", "x-label",
            "--model-extra-keys", "x-notEqual", "x-exclusive",
            "--base-class", "mail4agent_api._wire.WireModel", "--custom-template-dir",
            str(ROOT / "tools" / "templates"),
            "--disable-future-imports", "--strict-refs", "--no-allow-remote-refs",
            "--custom-file-header", HEADER.format(source=f"schemas/bundle/{seam}.bundle.json"),
            "--additional-imports", ",".join(f"mail4agent_api._wire.{name}" for name in parts),
            "--formatters", "builtin",
            *(["--external-ref-mapping", *mapped] if mapped else []),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
        if done.returncode or "warn" in done.stderr.lower():
            raise SystemExit(f"datamodel-codegen failed:\n{done.stderr}")
        return formatted(target.read_text("utf-8"))


def formatted(text: str) -> str:
    """Format Python with ruff under fixed settings, so that no project setting changes generated files."""
    return subprocess.run(
        [*RUFF, "format", "--isolated", "--line-length", "110", "--target-version", "py311", "-"],
        input=text, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


def outputs() -> dict[str, str]:
    """Return every generated file: its path from the root and its text."""
    out: dict[str, str] = {}
    for seam in SEAMS:
        out[f"schemas/bundle/{seam}.bundle.json"] = pretty(bundle(seam))
        out[f"mail4agent_api/{seam}.py"] = python_types(seam)
    definitions, table = contract(), operations.table()
    out["mail4agent_api/operations.py"] = formatted(operations.operations_module())
    out["mail4agent_api/errors.py"] = formatted(operations.errors_module(definitions))
    out["mail4agent_api/bounds.py"] = formatted(bounds.bounds_module(definitions))
    out["clients/python/mail4agent_client/methods.py"] = formatted(client.methods_module(definitions, table))
    out["schemas/tools.json"] = pretty(toolbox.document(definitions, table))
    out["schemas/openapi.json"] = pretty(openapi.document(definitions, table))
    out["schemas/intake.openapi.json"] = pretty(intake.document(definitions))
    out["mail4agent_api/intake_operations.py"] = formatted(intake.operations_module())
    folder = "clients/typescript/src"
    out[f"{folder}/types.ts"] = typescript.declarations(definitions, table)
    out[f"{folder}/definitions.ts"] = typescript_definitions.definitions_module(definitions, table)
    out[f"{folder}/operations.ts"] = typescript_client.operations_module(definitions, table)
    out[f"{folder}/methods.ts"] = typescript_client.methods_module(definitions, table)
    out["docs/operations.md"] = reference.page(definitions, table)
    out |= plots.drawings()
    return out


def differences(wanted: Mapping[str, str], root: Path) -> dict[str, str]:
    """Return each path under ``root`` that is not as wanted, with a diff.

    Drift, hand edits, missing files, orphans.
    """
    out: dict[str, str] = {}
    for name, text in wanted.items():
        path = root / name
        present = path.read_text("utf-8") if path.exists() else ""
        if present != text:
            old, new = present.splitlines(keepends=True), text.splitlines(keepends=True)
            out[name] = "".join(difflib.unified_diff(old, new, f"{name} (present)", f"{name} (generated)"))
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            text = path.read_text("utf-8") if path.suffix in {".py", ".json", ".ts", ".md", ".svg"} else ""
            if MARK in text[:600] and name not in wanted and not name.startswith(RELEASED):
                out[name] = f"{name} says that it is generated, but nothing generates it\n"
    return out


def main() -> int:
    """Write or check; return the exit status."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument(
        "--check", action="store_true", help="change nothing; exit 1 with a diff on any drift"
    )
    check = arguments.parse_args().check
    wanted = outputs()
    found = differences(wanted, ROOT)
    for name, diff in found.items():
        if check or name not in wanted:
            sys.stdout.write(diff)
        else:
            path = ROOT / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[name], "utf-8")
            print(f"wrote {name}")
    return int(bool(found) if check else bool(found.keys() - wanted.keys()))


if __name__ == "__main__":
    raise SystemExit(main())
