"""Where a trial keeps the results of its batches; workers of a server call it too."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def keep(folder: Path, run: str, batch: int, rows: list[str]) -> None:
    """Write down the results of a batch, beside those of other runs of it."""
    (folder / "results").mkdir(parents=True, exist_ok=True)
    part = folder / f"results/.{batch}.{run}"
    part.write_text("".join(f"{row}\n" for row in sorted(rows)), encoding="utf-8")
    part.replace(folder / f"results/{batch}.{run}.jsonl")
