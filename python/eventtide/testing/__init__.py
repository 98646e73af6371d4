"""Tests of streaming queries with a scripted source and a scripted clock: no files, no sleeping.

::

    from eventtide.testing import Script

    def counts(events):
        policy = WatermarkPolicies.limiting_lag_and_lull("5s", "30s")
        windows = F.window("ts", "10 seconds")
        return et.with_watermark(events, "ts", policy).groupBy(windows).count()

    with Script(counts, "ts timestamp") as script:
        script.rows([("2024-01-01 00:00:07",)]).expect(results=[])
        script.clock("+1m").expect(watermark="2024-01-01 00:00:32")
"""

from eventtide.testing._kernel import KernelScript
from eventtide.testing._policies import check_policy
from eventtide.testing._script import Script

__all__ = ["KernelScript", "Script", "check_policy"]
