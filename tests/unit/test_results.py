"""Results that print as tables, in a notebook too."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from eventtide import LateContext
from eventtide._text.tables import Table, Tabular
from eventtide.observe._checkpoint import parse_report
from eventtide.observe._progress import parse_progress

BORDER = Path(__file__).parents[1] / "border"
RESULTS = [("progress", parse_progress), ("checkpoint", parse_report)]


def read(name: str, parse: Any) -> Any:
    """Return the result of a file of the border."""
    return parse((BORDER / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "parse"), RESULTS)
def test_a_result_prints_what_it_holds(name: str, parse: Any) -> None:
    """Every substream and every note; as text in columns, as HTML in a table."""
    result = read(name, parse)
    watermark = getattr(result, "watermark", result)
    shown, html = str(result), result._repr_html_()
    for source in watermark.inputs:
        assert f"input {source.position}: {source.policy}" in shown
        for one in source.substreams:
            assert f"  {one.name} " in shown
            assert f">{one.name}</td>" in html
    for note in (*getattr(result, "problems", ()), *getattr(result, "advice", ())):
        assert note in shown
    assert html.count("<table>") == html.count("</table>") >= 2


@pytest.mark.parametrize(("name", "parse"), RESULTS)
def test_a_result_is_a_dict_of_plain_values(name: str, parse: Any) -> None:
    """With the fields of the dataclasses in it, down to the last one."""
    result = read(name, parse)
    made = result.to_dict()
    assert set(made) == set(vars(result))
    assert "Progress(" not in json.dumps(made, default=str)
    watermark = made.get("watermark", made)
    assert watermark["inputs"][0]["substreams"][0]["state"] in {"active", "idle", "expected"}


def test_a_value_cannot_break_out_of_its_cell() -> None:
    """Names of substreams are values of rows."""
    html = Table("<b>", ("<i>",), [("</td><script>",)], "<u>").html()
    for tag in ("<i>", "<script>", "<u>"):
        assert tag not in html


def test_a_type_without_tables_cannot_be_printed() -> None:
    """Each registers its own."""
    with pytest.raises(NotImplementedError, match="Tabular"):
        str(Tabular())


def test_the_context_of_late_rows_prints_what_it_holds() -> None:
    """The query by its name, or by its id."""
    for name, shown in (("counts", "counts"), (None, "0f6a")):
        query: Any = SimpleNamespace(name=name, id="0f6a")
        context = LateContext(query, 3, {"window_closed": 2}, "/data/checkpoint")
        assert repr(context) == (
            f"LateContext(query={shown!r}, batch_id=3, reasons={{'window_closed': 2}},"
            " checkpoint='/data/checkpoint')"
        )
