"""Starting a Spark session with eventtide in it."""

from __future__ import annotations

import os
import re
import shlex
import sys
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark

from eventtide import _jvm
from eventtide._version import jar_name, supported_minor
from eventtide.errors import ArgumentTypeError, SetupError, sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import SparkSession

__all__ = ["configure", "jar_path"]

EXTENSIONS = "spark.sql.extensions"
JARS = "spark.jars"
MASTER = "spark.master"
PYTHON = "spark.pyspark.python"
PYTHON_VARIABLE = "PYSPARK_PYTHON"
STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
STATE_FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"
EMPTY_AT_START = "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

_named: set[str] = set()
"""What `configure` has put into ``PYSPARK_PYTHON``."""

# Why spark.jars: it puts the jar on the driver's class path when PySpark starts the JVM and takes
# it to every executor. The two extraClassPath settings take paths, which must exist on every
# machine, and spark.jars.packages needs a network. Only classes that executors need before their
# first task, which eventtide has not, would call for spark.executor.extraClassPath.


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Put eventtide's jar, its extension and the state store to use into a session builder.

    .. versionadded:: 0.1

    Parameters
    ----------
    builder : SparkSession.Builder
        ``SparkSession.builder``, with or without settings of yours. Call this last.

    Returns
    -------
    SparkSession.Builder
        The same builder. Jars and extensions that you set, on the builder, in
        ``PYSPARK_SUBMIT_ARGS`` or in ``spark-defaults.conf``, are kept beside eventtide's; so are
        your state store, its format and your check of new checkpoints. Under a local master
        ``spark.pyspark.python`` and ``PYSPARK_PYTHON`` name the Python that runs, unless one is
        set. Nothing else is set.

    Raises
    ------
    SetupError
        A JVM without the jar is already running, the builder is for Spark Connect, or this
        installation has no jar.
    UnsupportedSparkError
        There is no jar for the PySpark that is installed.

    Notes
    -----
    A running JVM takes no more jars: Spark accepts ``spark.jars`` then, and ignores it. Under
    ``spark-submit`` the JVM runs before Python, so give the jar with ``--jars``; `jar_path` tells
    where it is.

    The state store is Spark's own: RocksDB, with state in the second of Spark's formats
    (``spark.sql.streaming.stateStore.checkpointFormatVersion``), in which two drivers on one
    checkpoint never write the same file. In a session with a state store that is not RocksDB the
    format stays. A checkpoint that was begun in the first format goes on in it with Spark 4.3.
    Spark 4.1 refuses it: set the format to 1 for a session that goes on with such queries.

    Spark's check that a new checkpoint is empty
    (``spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart``) is off: it refuses what a driver
    leaves that was killed in its very first batch. Of queries with watermarks or windows of
    eventtide, a checkpoint that has lost its offsets is refused all the same, by name.

    Where no Python is named, Spark's workers are the ``python3`` of the path, which may lack the
    packages of the one that runs.

    Examples
    --------
    >>> import eventtide as et
    >>> from pyspark.sql import SparkSession
    >>> spark = et.configure(SparkSession.builder).getOrCreate()  # doctest: +SKIP
    """
    _check(builder)
    supported_minor(pyspark.__version__)
    running = _jvm.running_settings()
    settings = {**(_startup_settings() if running is None else running), **builder._options}  # noqa: SLF001
    if running is not None and not _jvm.has_jar():
        raise SetupError(
            "A Spark JVM without eventtide's jar is already running in this process, and a running"
            " JVM takes no more. Restart Python and call et.configure before the first session is"
            f" made, or start Spark with --jars {jar_path()}."
        )
    # A running JVM has the jar in its own settings; those of a builder hide it from executors.
    if running is None or JARS in builder._options:  # noqa: SLF001
        builder.config(JARS, _appended(settings, JARS, str(jar_path())))
    builder.config(EXTENSIONS, _appended(settings, EXTENSIONS, _jvm.EXTENSION))
    if STATE_STORE not in settings:
        builder.config(STATE_STORE, ROCKSDB)
    if STATE_FORMAT not in settings and "RocksDB" in str(settings.get(STATE_STORE, ROCKSDB)):
        builder.config(STATE_FORMAT, "2")
    if EMPTY_AT_START not in settings:
        builder.config(EMPTY_AT_START, "false")
    _name_python(builder, settings)
    return builder


def jar_path() -> Path:
    """Return the path of the jar for the PySpark that is installed, for ``--jars``.

    .. versionadded:: 0.1

    Returns
    -------
    Path
        ``eventtide-spark-<Spark minor>_2.13-<version>.jar`` inside the package.

    Raises
    ------
    UnsupportedSparkError
        There is no jar for the PySpark that is installed.
    SetupError
        This installation was made without its jars.
    """
    name = jar_name(supported_minor(pyspark.__version__))
    path = Path(str(files("eventtide"))) / "jars" / name
    if not path.is_file():
        raise SetupError(
            f"This installation of eventtide has no {name}. Install the wheel: pip install"
            " --force-reinstall eventtide; in a clone, dev/wheel builds it."
        )
    return path


def _check(builder: SparkSession.Builder) -> None:
    if not isinstance(getattr(builder, "_options", None), dict):
        problem, fix = "is no session builder", "et.configure(SparkSession.builder)"
        raise ArgumentTypeError(
            sentence("builder", builder, problem, allowed="SparkSession.builder", fix=fix)
        )
    options = builder._options  # noqa: SLF001 - a builder has no public way to read it
    mode = str(options.get("spark.api.mode", os.environ.get("SPARK_API_MODE", ""))).lower()
    if "spark.remote" in options or "SPARK_REMOTE" in os.environ or mode == "connect":
        raise SetupError(
            "The builder is for Spark Connect, which cannot reach the driver's JVM. Remove"
            " .remote(...), SPARK_REMOTE and spark.api.mode=connect for a classic session."
        )


def _name_python(builder: SparkSession.Builder, settings: Mapping[str, object]) -> None:
    """Name the running Python for workers on this machine, and for no others."""
    if os.environ.get(PYTHON_VARIABLE) in _named:  # for a session before this one
        del os.environ[PYTHON_VARIABLE]
    if _is_local(settings) and PYTHON not in settings and PYTHON_VARIABLE not in os.environ:
        builder.config(PYTHON, sys.executable)
        os.environ[PYTHON_VARIABLE] = sys.executable  # all that a session in this process reads
        _named.add(sys.executable)


def _is_local(settings: Mapping[str, object]) -> bool:
    """Tell whether Python workers run on this machine: so they do where no master is named."""
    return str(settings.get(MASTER) or os.environ.get("MASTER") or "local").startswith("local")


def _appended(settings: Mapping[str, object], key: str, entry: str) -> str:
    """Return a comma-separated setting with `entry` in it, once, behind what is there."""
    entries = [part.strip() for part in str(settings.get(key) or "").split(",") if part.strip()]
    name = entry.rpartition("/")[2]  # the same jar in another place is the same jar
    if not any(part.rpartition("/")[2] == name for part in entries):
        entries.append(entry)
    return ",".join(entries)


def _startup_settings() -> dict[str, str]:
    """Return the settings that Spark would start with, which ours must not push aside."""
    arguments = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))
    settings = _defaults_file()
    for option, value in pairwise(arguments):
        if option == "--jars":
            _check_jars(value)
            settings[JARS] = value
        elif option == "--master":
            settings[MASTER] = value
        elif option in {"--conf", "-c"} and "=" in value:
            settings |= _properties([value])
            if value.startswith(f"{JARS}="):
                _check_jars(settings[JARS])
    return settings


def _check_jars(jars: str) -> None:
    if jar_path().name not in jars:
        raise SetupError(
            f"PYSPARK_SUBMIT_ARGS has the jars {jars}, which Spark prefers to the spark.jars that"
            f" et.configure sets. Add {jar_path()} to that list, or move it to"
            " .config('spark.jars', ...) on the builder."
        )


def _defaults_file() -> dict[str, str]:
    home = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
    path = Path(os.environ.get("SPARK_CONF_DIR") or home / "conf") / "spark-defaults.conf"
    return _properties(path.read_text(encoding="utf-8").splitlines()) if path.is_file() else {}


def _properties(lines: Iterable[str]) -> dict[str, str]:
    """Read lines of a properties file: a key, then a space or an equals sign, then a value.

    Examples
    --------
    >>> _properties(["# mine", "", "spark.jars  a.jar", "spark.x.options=-Dy=1"])
    {'spark.jars': 'a.jar', 'spark.x.options': '-Dy=1'}
    """
    entries = (line.strip() for line in lines if line.strip() and line.strip()[0] not in "#!")
    pairs = (re.split(r"\s*[=:\s]\s*", entry, maxsplit=1) for entry in entries)
    return {key: (value or [""])[0] for key, *value in pairs}
