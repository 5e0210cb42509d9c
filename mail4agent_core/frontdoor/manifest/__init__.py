"""Request types: what a stranger may ask, in which fields; read, checked, and held against submissions.

``read_manifest`` takes TOML or JSON, ``Form`` is a manifest whose parts fit together, ``Form.validate`` is
the one validator of submissions, ``submission_schema`` says the same as JSON Schema, and ``TypeFolder``
keeps the manifests of a machine with their versions.
"""

from .checks import Fault, faults
from .folder import MANIFESTS_MAX, TypeFolder, TypeFolderError, UnreadableType
from .form import Checked, Form, FormField, ManifestError, Phase, Problem
from .reading import MANIFEST_MAX_BYTES, misshapen, read_manifest
from .schema import submission_schema

__all__ = [
    "MANIFESTS_MAX",
    "MANIFEST_MAX_BYTES",
    "Checked",
    "Fault",
    "Form",
    "FormField",
    "ManifestError",
    "Phase",
    "Problem",
    "TypeFolder",
    "TypeFolderError",
    "UnreadableType",
    "faults",
    "misshapen",
    "read_manifest",
    "submission_schema",
]
