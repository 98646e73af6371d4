"""Tables of results: written with their completeness, corrected by late rows, and proved."""

from eventtide.tables._heal import heal
from eventtide.tables._prove import Proof, prove
from eventtide.tables._write import complete_writer

__all__ = ["Proof", "complete_writer", "heal", "prove"]
