"""A VoltSP window as a YAML document: model and schema, parsing and writing.

The package needs the extra ``eventtide[yaml]``, so other modules import it lazily.
"""
