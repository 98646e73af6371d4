"""A VoltSP window as a YAML document: model and schema, parsing and writing.

Model and parsing need the extra ``eventtide[yaml]``, so other modules import them lazily.
"""
