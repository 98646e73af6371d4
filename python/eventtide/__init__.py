"""Event-time watermarks and windows for Apache Spark Structured Streaming.

    import eventtide as et
    from pyspark.sql import functions as F

    spark = et.configure(SparkSession.builder).getOrCreate()
    counts = (
        et.window(events)
        .event_time("ts", et.WatermarkPolicies.with_fixed_lag("5s"), substream="device")
        .key_by("device")
        .sliding("1m", every="10s")
        .agg(F.count("*").alias("n"))
    )
    query = counts.start(counts.results.writeStream.format("console"))

Stock Spark has one rule for its watermark: the largest event time anywhere minus one fixed delay.
In Eventtide a policy computes it, with one instance for each substream. All else is Spark's.

Session     configure(builder)                      the jar and the extension
            jar_path(), named_errors()
Watermark   with_watermark(df, "ts", policy)        for Spark's own operators
            df.transform(watermark("ts", policy))   the same
            with_ingestion_time(df)                 no row is late
            WatermarkPolicies, WatermarkPolicy      the rules
Windows     window(df), WindowBuilder               frames, sessions, counts; any aggregate
            from_yaml(text)                         a window in YAML
            WindowTrigger                           when results are emitted
            start(window, writer), LateContext      with a handler of late rows
            backfill(window, history, writer)       history, then the stream
            repair(results, late, window, source=)  results corrected by late rows
            heal(window, query, source=, table=)    a table that late rows correct all the time
            prove(window, query, source=, table=)   a table compared with a batch query
Look        progress(query), blame(query), watch(query)
                                                    a running query
            explain(df)                             a plan or a window
            lag_curve(query), advise(query, late="0.1%")
                                                    the rows that a lag would cost
            lab(rows, event_time=, arrival=)
                                                    policies tried on recorded rows
            why(query, window), why_late(query, row)
                                                    why a window is open or closed, a row late
            completeness(query), expected_share()   the windows that have closed, and what they lack
            read_late(query), read_state(query, window), read_checkpoint(query)
                                                    a query or the path of its checkpoint
Maintain    clean_late(query), compact_late(query), forget_late_reader(query, reader)
            observe.repartition(query, partitions)
Modules     errors, observe, policies, storm, tables, testing, voltsp

`EventtideError` is the base of every error; each names the argument, the allowed values, and the
fix.
"""

import typing as _typing
from difflib import get_close_matches as _get_close_matches
from importlib import import_module as _import_module

from eventtide import errors as errors
from eventtide import observe as observe
from eventtide import policies as policies
from eventtide import storm as storm
from eventtide import tables as tables
from eventtide import voltsp as voltsp
from eventtide._bridge import named_errors as named_errors
from eventtide._session import configure as configure
from eventtide._session import jar_path as jar_path
from eventtide._version import __version__ as __version__
from eventtide._watermark import watermark as watermark
from eventtide._watermark import with_ingestion_time as with_ingestion_time
from eventtide._watermark import with_watermark as with_watermark
from eventtide.errors import EventtideError as EventtideError
from eventtide.observe import advise as advise
from eventtide.observe import blame as blame
from eventtide.observe import clean_late as clean_late
from eventtide.observe import compact_late as compact_late
from eventtide.observe import completeness as completeness
from eventtide.observe import explain as explain
from eventtide.observe import forget_late_reader as forget_late_reader
from eventtide.observe import lab as lab
from eventtide.observe import lag_curve as lag_curve
from eventtide.observe import progress as progress
from eventtide.observe import read_checkpoint as read_checkpoint
from eventtide.observe import read_late as read_late
from eventtide.observe import read_state as read_state
from eventtide.observe import watch as watch
from eventtide.observe import why as why
from eventtide.observe import why_late as why_late
from eventtide.policies import WatermarkPolicies as WatermarkPolicies
from eventtide.policies import WatermarkPolicy as WatermarkPolicy
from eventtide.tables import heal as heal
from eventtide.tables import prove as prove
from eventtide.windows import LateContext as LateContext
from eventtide.windows import WindowBuilder as WindowBuilder
from eventtide.windows import WindowTrigger as WindowTrigger
from eventtide.windows import backfill as backfill
from eventtide.windows import expected_share as expected_share
from eventtide.windows import from_yaml as from_yaml
from eventtide.windows import repair as repair
from eventtide.windows import start as start
from eventtide.windows import window as window

# There is no __all__: with one, help(eventtide) would print each function in full.
_MODULES = ("errors", "observe", "policies", "storm", "testing", "voltsp")


if _typing.TYPE_CHECKING:  # a type checker reports unknown names by itself
    from eventtide import testing as testing
else:

    def __getattr__(name: str) -> object:
        """Import `eventtide.testing`; refuse an unknown name with the place of a known one."""
        if name == "testing":
            return _import_module("eventtide.testing")
        places = {public: public for public in __dir__() if public[0] != "_"}
        for module in _MODULES[:-2] + _MODULES[-1:]:
            for public in globals()[module].__all__:
                places.setdefault(public, f"{module}.{public}")
        same = [public for public in places if public.lower() == name.lower()]
        near = same or _get_close_matches(name, places, n=1, cutoff=0.7)
        hint = f" Try: eventtide.{places[near[0]]}." if near else ""
        raise AttributeError(f"eventtide has no {name!r}.{hint}", name=name)


def __dir__() -> list[str]:
    """Return the public names."""
    hidden = {name for name in globals() if not name[0].isalpha() and name != "__version__"}
    return sorted({*globals(), "testing"} - hidden - {"cli", "windows"})
