"""The configuration of a Spark session with eventtide."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import sys
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
from pyspark.util import default_api_mode

from eventtide._session_kind import EXTENSION, PLUGIN, RELATIONS
from eventtide._version import jar_name, supported_minor
from eventtide.errors import ArgumentTypeError, UnsupportedSparkError, refused, unready

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import SparkSession

__all__ = ["configure", "jar_path"]

EXTENSIONS = "spark.sql.extensions"
TEST_KIT = "spark.eventtide.connect.testKit"
JARS = "spark.jars"
MASTER = "spark.master"
PACKAGES = "spark.jars.packages"
COORDINATE = "io.eventtide:eventtide-spark-"
PYTHON = "spark.pyspark.python"
PYTHON_VARIABLE = "PYSPARK_PYTHON"
STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
STATE_FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"
CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
MAINTENANCE = "spark.sql.streaming.stateStore.maintenanceInterval"
FILE_MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
EMPTY_AT_START = "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart"
ATOMIC_FILES = "io.eventtide.spark.checkpoint.AtomicCheckpointFileManager"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
REAL_TIME = {
    "spark.sql.streaming.realTimeMode.allowlistCheck": "false",
    "spark.sql.execution.sortBeforeRepartition": "false",
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "1",
}

_named: set[str] = set()
"""The values that `configure` has written to ``PYSPARK_PYTHON``."""

# Why spark.jars: it adds the jar to the driver's class path when PySpark starts the JVM, and ships
# it to every executor. The two extraClassPath settings take paths that must exist on every machine,
# and spark.jars.packages needs a network. spark.executor.extraClassPath is only required for
# classes that executors load before their first task, and eventtide has none.


def configure(builder: SparkSession.Builder, *, real_time: bool = False) -> SparkSession.Builder:
    """Add eventtide's jar, its extension and the state store settings to a session builder.

    Parameters
    ----------
    builder : SparkSession.Builder
        ``SparkSession.builder``, with or without other settings. Call this function last.
    real_time : bool, default False
        Also make the settings that windows need in Spark's real-time mode, with Spark 4.3.

    Returns
    -------
    SparkSession.Builder
        The same builder. Existing jars and extensions, on the builder, in ``PYSPARK_SUBMIT_ARGS``
        or in ``spark-defaults.conf``, are kept, and the eventtide jar and extension are appended.
        An existing setting of the state store, its format, its changelogs, its maintenance, the
        checkpoint files or the check of new checkpoints is kept.
        If ``spark.jars.packages`` has the jar's coordinate, such as
        ``io.eventtide:eventtide-spark-4.3_2.13:0.1.0``, the jar is not added. With a local master,
        ``spark.pyspark.python`` and ``PYSPARK_PYTHON`` are set to the running Python, unless one of
        them is set. No other setting is changed.

    Raises
    ------
    SetupError
        A JVM without the jar is already running, or this installation has no jar.
    UnsupportedSparkError
        There is no jar for the installed PySpark, or `real_time` needs a newer one.

    Notes
    -----
    For Spark Connect, the settings belong to the server. With ``.remote("local[2]")``,
    ``spark.api.mode=connect`` or the variable ``SPARK_CONNECT_MODE=1``, PySpark starts a server.
    The server gets these settings, the plugin (``spark.connect.extensions.relation.classes``) and
    the permission to use `eventtide.testing`. A builder with the address of a server,
    ``.remote("sc://...")``, is not changed.

    A running JVM cannot load more jars: Spark accepts ``spark.jars`` and ignores it. Under
    ``spark-submit`` the JVM starts before Python, so pass the jar with ``--jars``; `jar_path`
    returns its path.

    The state store is Spark's RocksDB, with version 2 of Spark's state format
    (``spark.sql.streaming.stateStore.checkpointFormatVersion``). In this format, two drivers on one
    checkpoint never write the same file. In a session with a state store other than RocksDB the
    format is not changed. A checkpoint in format 1 continues in format 1 with Spark 4.3. Spark 4.1
    rejects it: set the format to 1 for a session that continues such queries.

    With changelogs (``spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled``), a
    batch writes only its changes to the state. In format 2, a changelog lists all versions since
    the last snapshot that was uploaded, and Spark fails after about 850 of them. So snapshots are
    uploaded every 10 seconds (``spark.sql.streaming.stateStore.maintenanceInterval``) instead of
    every minute.

    Checkpoints on local disks and on S3 are written by a file manager of eventtide
    (``spark.sql.streaming.checkpointFileManagerClass``). Of two writers that create one file, one
    fails: a disk must have hard links for this, and S3 needs ``hadoop-aws`` 3.4.2 or later. Without
    Hadoop's native library, Spark's default starts processes for each file on a disk, which take
    half of the time of a small batch. Checkpoints on other file systems are written by Spark's
    default. With ``spark.eventtide.checkpoint.fsync`` = ``true``, each file is on the disk before
    the query goes on, so that the checkpoint also survives a power failure.

    Spark's check that a new checkpoint is empty
    (``spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart``) is disabled. It rejects the
    checkpoint of a driver that was killed in its very first batch. For queries with eventtide
    watermarks or windows, a checkpoint that has lost its offsets is still rejected, with a named
    error.

    For real-time mode, Spark's check of the operators is disabled
    (``spark.sql.streaming.realTimeMode.allowlistCheck``), because it rejects those of eventtide.
    Eventtide checks the other operators in the same way. Rows wait at most a millisecond in the
    buffers of a shuffle (``spark.shuffle.streaming.networkBufferMaxWaitTimeMs``) instead of 50, and
    rows are not sorted before a repartitioning, which would wait for the end of the batch.

    If no Python is set, Spark's workers use the ``python3`` in the path, which may lack the
    packages of the running Python.

    Examples
    --------
    >>> import eventtide as et
    >>> from pyspark.sql import SparkSession
    >>> spark = et.configure(SparkSession.builder).getOrCreate()  # doctest: +SKIP
    """
    _check(builder)
    remote = _remote(builder)
    if remote is not None and remote.startswith("sc://"):
        return builder
    if importlib.util.find_spec("py4j") is None:
        raise unready(
            "This PySpark is a client of Spark Connect, and the builder has no server.",
            "Name it: SparkSession.builder.remote('sc://host:15002').",
        )
    from eventtide import _jvm  # noqa: PLC0415 - a client of Spark Connect has no py4j

    _check_minor(supported_minor(pyspark.__version__), real_time=real_time)
    running = _jvm.running_settings()
    settings = {**(_startup_settings() if running is None else running), **builder._options}  # noqa: SLF001
    if running is not None and not _jvm.has_jar():
        raise unready(
            "A Spark JVM without eventtide's jar is already running in this process, and a running"
            " JVM cannot load more jars.",
            "Restart Python and call et.configure before the first session is made, or start Spark"
            f" with --jars {jar_path()}.",
        )
    # A running JVM has the jar in its settings; a builder's setting would hide it from executors.
    fetched = running is None and COORDINATE in str(settings.get(PACKAGES, ""))
    if (running is None and not fetched) or JARS in builder._options:  # noqa: SLF001
        builder.config(JARS, _appended(settings, JARS, str(jar_path())))
    builder.config(EXTENSIONS, _appended(settings, EXTENSIONS, EXTENSION))
    if remote is not None:
        builder.config(RELATIONS, _appended(settings, RELATIONS, PLUGIN))
        builder.config(TEST_KIT, "true")
    for key, value in _defaults(settings, real_time=real_time).items():
        builder.config(key, value)
    _name_python(builder, settings)
    return builder


def _defaults(settings: Mapping[str, object], *, real_time: bool) -> dict[str, str]:
    """Return the settings of queries that are not set."""
    defaults = {STATE_STORE: ROCKSDB, FILE_MANAGER: ATOMIC_FILES, EMPTY_AT_START: "false"}
    if "RocksDB" in str(settings.get(STATE_STORE, ROCKSDB)):
        defaults |= {STATE_FORMAT: "2", CHANGELOG: "true", MAINTENANCE: "10s"}
    if real_time:
        defaults |= REAL_TIME
    return {key: value for key, value in defaults.items() if key not in settings}


def jar_path() -> Path:
    """Return the path of the jar for the installed PySpark, for ``--jars``.

    Returns
    -------
    Path
        ``eventtide-spark-<Spark minor>_2.13-<version>.jar`` inside the package.

    Raises
    ------
    UnsupportedSparkError
        There is no jar for the installed PySpark.
    SetupError
        This installation has no jars.
    """
    name = jar_name(supported_minor(pyspark.__version__))
    path = Path(str(files("eventtide"))) / "jars" / name
    if not path.is_file():
        raise unready(
            f"This installation of eventtide has no {name}.",
            "Install the wheel: pip install --force-reinstall eventtide; in a clone, dev/wheel"
            " builds it.",
        )
    return path


def _check(builder: SparkSession.Builder) -> None:
    if not isinstance(getattr(builder, "_options", None), dict):
        problem, fix = "is not a session builder", "et.configure(SparkSession.builder)"
        raise refused(
            "builder",
            builder,
            problem,
            allowed="SparkSession.builder",
            fix=fix,
            error=ArgumentTypeError,
        )


def _check_minor(minor: str, *, real_time: bool) -> None:
    if real_time and minor in {"4.1", "4.2"}:
        raise unready(
            f"Spark {minor} cannot shuffle rows in real-time mode, and windows need a shuffle.",
            "Use Spark 4.3, or leave out real_time=True.",
            UnsupportedSparkError,
        )


def _remote(builder: SparkSession.Builder) -> str | None:
    """Return the server of a builder for Spark Connect: an address, or the master of a new one.

    None for a classic session. Spark's `getOrCreate` reads the same settings and variables, the
    variable ``SPARK_CONNECT_MODE`` last.
    """
    options = builder._options  # noqa: SLF001 - a builder has no public way to read it
    remote = options.get("spark.remote", os.environ.get("SPARK_REMOTE"))
    mode = str(options.get("spark.api.mode", os.environ.get("SPARK_API_MODE", ""))).lower()
    mode = mode if mode in {"classic", "connect"} else default_api_mode()
    if remote is None and mode != "connect":
        return None
    return str(remote or options.get(MASTER) or os.environ.get("MASTER") or "local")


def _name_python(builder: SparkSession.Builder, settings: Mapping[str, object]) -> None:
    """Set the running Python for workers on this machine only."""
    if os.environ.get(PYTHON_VARIABLE) in _named:  # set for an earlier session
        del os.environ[PYTHON_VARIABLE]
    if _is_local(settings) and PYTHON not in settings and PYTHON_VARIABLE not in os.environ:
        builder.config(PYTHON, sys.executable)
        os.environ[PYTHON_VARIABLE] = sys.executable  # a session in this process reads only this
        _named.add(sys.executable)


def _is_local(settings: Mapping[str, object]) -> bool:
    """Return whether Python workers run on this machine, as they do without a master."""
    return str(settings.get(MASTER) or os.environ.get("MASTER") or "local").startswith("local")


def _appended(settings: Mapping[str, object], key: str, entry: str) -> str:
    """Return a comma-separated setting with `entry` appended, unless it is already in it."""
    entries = [part.strip() for part in str(settings.get(key) or "").split(",") if part.strip()]
    name = entry.rpartition("/")[2]  # a jar is identified by its file name
    if not any(part.rpartition("/")[2] == name for part in entries):
        entries.append(entry)
    return ",".join(entries)


def _startup_settings() -> dict[str, str]:
    """Return the settings that Spark would start with, which must not be overwritten."""
    settings = _defaults_file()
    for option, value in pairwise(_arguments(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))):
        if option == "--jars":
            _check_jars(value)
            settings[JARS] = value
        elif option == "--packages":
            settings[PACKAGES] = value
        elif option == "--master":
            settings[MASTER] = value
        elif option in {"--conf", "-c"} and "=" in value:
            settings |= _properties([value])
            if value.startswith(f"{JARS}="):
                _check_jars(settings[JARS])
    return settings


def _arguments(text: str) -> list[str]:
    """Split arguments of spark-submit, which takes a value after a space or an equals sign.

    Examples
    --------
    >>> _arguments("--jars=a.jar --conf spark.x=1 job.py")
    ['--jars', 'a.jar', '--conf', 'spark.x=1', 'job.py']
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        problem = f"PYSPARK_SUBMIT_ARGS is {text!r}, which cannot be split: {error}."
        raise unready(problem, "Close the quotes in PYSPARK_SUBMIT_ARGS.") from None
    parts = (re.fullmatch(r"(--[^=]+)=(.+)", word, re.DOTALL) for word in words)
    return [
        one
        for word, part in zip(words, parts, strict=True)
        for one in (part.groups() if part else [word])
    ]


def _check_jars(jars: str) -> None:
    if jar_path().name not in jars:
        raise unready(
            f"PYSPARK_SUBMIT_ARGS has the jars {jars}, which Spark prefers to the spark.jars that"
            " et.configure sets.",
            f"Add {jar_path()} to that list, or move it to .config('spark.jars', ...) on the"
            " builder.",
        )


def _defaults_file() -> dict[str, str]:
    home = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
    path = Path(os.environ.get("SPARK_CONF_DIR") or home / "conf") / "spark-defaults.conf"
    return _properties(path.read_text(encoding="utf-8").splitlines()) if path.is_file() else {}


def _properties(lines: Iterable[str]) -> dict[str, str]:
    """Parse the lines of a properties file: a key, a space or an equals sign, and a value.

    Examples
    --------
    >>> _properties(["# mine", "", "spark.jars  a.jar", "spark.x.options=-Dy=1"])
    {'spark.jars': 'a.jar', 'spark.x.options': '-Dy=1'}
    """
    entries = (line.strip() for line in lines if line.strip() and line.strip()[0] not in "#!")
    pairs = (re.split(r"\s*[=:\s]\s*", entry, maxsplit=1) for entry in entries)
    return {key: (value or [""])[0] for key, *value in pairs}
