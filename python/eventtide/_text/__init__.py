"""Checks of arguments: types, columns, durations."""
