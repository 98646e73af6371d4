"""YAML documents: reading them with the line of each value, and errors that name the line.

The modules need the extra ``eventtide[yaml]``, so other modules import them lazily.
"""
