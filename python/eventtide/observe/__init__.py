"""Observation of queries: progress, blame, plans, checkpoints, state, late rows."""

from eventtide.observe import _tables as _tables  # registers the tables of results
from eventtide.observe._blame import blame
from eventtide.observe._checkpoint import (
    CheckpointReport,
    LateKept,
    LateReader,
    WindowReport,
    read_checkpoint,
)
from eventtide.observe._completeness import completeness
from eventtide.observe._disorder import Disorder, Drift
from eventtide.observe._explain import explain
from eventtide.observe._lab import lab
from eventtide.observe._lab_result import Lab, LabPoint
from eventtide.observe._lag_curve import LagCurve, advise, lag_curve
from eventtide.observe._late import read_late
from eventtide.observe._late_files import (
    LateCompaction,
    clean_late,
    compact_late,
    forget_late_reader,
)
from eventtide.observe._progress import InputProgress, QueryProgress, SubstreamProgress, progress
from eventtide.observe._repartition import repartition
from eventtide.observe._state import read_state
from eventtide.observe._watch import watch
from eventtide.observe._why import why, why_late

__all__ = [
    "CheckpointReport",
    "Disorder",
    "Drift",
    "InputProgress",
    "Lab",
    "LabPoint",
    "LagCurve",
    "LateCompaction",
    "LateKept",
    "LateReader",
    "QueryProgress",
    "SubstreamProgress",
    "WindowReport",
    "advise",
    "blame",
    "clean_late",
    "compact_late",
    "completeness",
    "explain",
    "forget_late_reader",
    "lab",
    "lag_curve",
    "progress",
    "read_checkpoint",
    "read_late",
    "read_state",
    "repartition",
    "watch",
    "why",
    "why_late",
]
