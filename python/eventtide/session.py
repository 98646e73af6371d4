"""Starting a Spark session with eventtide in it."""

from __future__ import annotations

import os
import re
import shlex
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
STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

# Why spark.jars: it puts the jar on the driver's class path when PySpark starts the JVM and takes
# it to every executor. The two extraClassPath settings take paths, which must exist on every
# machine, and spark.jars.packages needs a network. Only classes that executors need before their
# first task, which eventtide has not, would call for spark.executor.extraClassPath.


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Put eventtide's jar, its extension and the RocksDB state store into a session builder.

    .. versionadded:: 0.1

    Parameters
    ----------
    builder : SparkSession.Builder
        ``SparkSession.builder``, with or without settings of yours. Call this last.

    Returns
    -------
    SparkSession.Builder
        The same builder. Jars and extensions that you set, on the builder, in
        ``PYSPARK_SUBMIT_ARGS`` or in ``spark-defaults.conf``, are kept beside eventtide's; so is
        your state store. Nothing else is set.

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
    where it is. The RocksDB state store is Spark's own.

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
