"""The JSON schema of a document, for editors.

It is stored next to this file as ``schema.json``. To regenerate it after a change of the model::

    python -m eventtide.voltsp.document.schema > python/eventtide/voltsp/document/schema.json
"""

from __future__ import annotations

import json
import sys

from eventtide.voltsp.document._model import Pipeline

__all__ = ["schema"]


def schema() -> str:
    """Return the schema as text."""
    return json.dumps(Pipeline.model_json_schema(), indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema())
