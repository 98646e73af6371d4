"""One figure of a benchmark, and what has to be said about the machine it was measured on."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

Settings = dict[str, str | int | float]

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Figure:
    """Ours beside a baseline's, in one unit; a ratio above 1 means that ours is better."""

    bench: str
    settings: Settings
    unit: str
    ours: float
    baseline: str
    theirs: float
    less_is_better: bool

    def to_json(self, machine: Settings) -> dict[str, object]:
        """Return the record of `dev/bench --out`; the settings end with those of the machine."""
        ratio = self.theirs / self.ours if self.less_is_better else self.ours / self.theirs
        return {
            "bench": self.bench,
            "settings": self.settings | machine,
            "unit": self.unit,
            "ours": _rounded(self.ours),
            "baseline": self.baseline,
            "theirs": _rounded(self.theirs),
            "ratio": round(ratio, 3),
        }


def machine(*, quick: bool) -> Settings:
    """Return the machine, the versions and how busy others kept it while we began."""
    return {
        "machine": f"{_cpu()}, {os.cpu_count()} cores, {memory_gib()} GiB, {platform.system()}",
        "load": f"{os.getloadavg()[0]:.1f} at the start",
        "effort": "quick" if quick else "full",
        "java": _java_version(),
        "spark": version("pyspark"),
        "jet": _baseline_version("com.hazelcast"),
        "flink": _baseline_version("org.apache.flink"),
        "eventtide": version("eventtide"),
        "commit": _commit(),
    }


def memory_gib() -> int:
    """Return the memory of the machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**30


def java() -> str:
    """Return the Java that everything runs on: that of JAVA_HOME, or the one on the PATH."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else shutil.which("java") or "java"


def _rounded(value: float) -> float:
    return round(value, 4) if value < 1000 else round(value)  # noqa: PLR2004 - digits that mean something


def _cpu() -> str:
    found = re.search(r"model name\s*: (.*)", _text(Path("/proc/cpuinfo")))
    return found[1] if found else platform.processor() or platform.machine()


def _java_version() -> str:
    said = subprocess.run([java(), "-version"], check=True, capture_output=True, text=True)  # noqa: S603 - our own Java
    found = re.search(r'version "([^"]*)"', said.stderr)
    return found[1] if found else "unknown"


def _commit() -> str:
    """Return the commit that is checked out."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    said = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - made above
    return said.stdout.strip() or "unknown"


def _baseline_version(group: str) -> str:
    found = re.search(rf'"{group}" % \S+ % "([^"]*)"', _text(ROOT / "build.sbt"))
    return found[1] if found else "unknown"


def _text(file: Path) -> str:
    return file.read_text("utf-8") if file.exists() else ""
