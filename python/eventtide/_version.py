"""The version of eventtide, and the versions of Spark that it has a jar for."""

from __future__ import annotations

from eventtide.errors import UnsupportedSparkError, installed, unready

__all__ = ["SUPPORTED_SPARK", "__version__", "jar_name", "supported_minor"]

__version__ = installed()["Version"]

SUPPORTED_SPARK = ("4.1", "4.2", "4.3")
"""The Spark minors with a jar. Spark's internals change between minors, never within one."""


def supported_minor(spark_version: str) -> str:
    """Return the minor of a Spark version that has a jar.

    Raises
    ------
    UnsupportedSparkError
        There is no jar for it.

    Examples
    --------
    >>> supported_minor("4.3.0")
    '4.3'
    >>> supported_minor("3.5.7")
    Traceback (most recent call last):
    eventtide.errors.UnsupportedSparkError: Spark 3.5.7 is not supported. Supported: 4.1, ...
    """
    minor = ".".join(spark_version.split(".")[:2])
    if minor in SUPPORTED_SPARK:
        return minor
    raise unready(
        f"Spark {spark_version} is not supported. Supported: {', '.join(SUPPORTED_SPARK)}.",
        f"Try: pip install 'pyspark=={SUPPORTED_SPARK[-1]}.*', or the eventtide release for your"
        " Spark.",
        UnsupportedSparkError,
    )


def jar_name(spark_minor: str) -> str:
    """Return the file name of the jar for a Spark minor."""
    return f"eventtide-spark-{spark_minor}_2.13-{__version__}.jar"
