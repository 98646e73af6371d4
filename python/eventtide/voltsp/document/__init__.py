"""A window of VoltSP's as a YAML document: its model and schema, reading and writing.

It needs the extra ``eventtide[yaml]``, so nothing outside imports it before it is used.
"""
