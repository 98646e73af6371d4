"""A jar with policies of users' own: that of docs/reference/policies.md, and one that fails."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.jars import PYSPARK
from tests.jvms import java
from tests.spark.server import jar_of_server

ROOT = Path(__file__).parents[2]
SOURCE = """
package shop

import java.io.{DataInput, DataOutput}
import io.eventtide.kernel.testkit.PolicyLaws
import io.eventtide.kernel.watermark.{CustomPolicyKind, PolicySpec, WatermarkPolicy}

/** Throws at times that end in 13 seconds, and after 19 seconds when it is asked what is next. */
class Throwing extends CustomPolicyKind("throwing") {
  def newPolicy(values: Seq[Long]): WatermarkPolicy = new WatermarkPolicy {
    private var top = Long.MinValue
    def observe(now: Long, ts: Long): Unit = {
      if (ts / 1000000 % 60 == 13) throw new IllegalStateException("unlucky")
      if (ts / 1000000 % 60 == 17) Thread.sleep(60000)
      top = math.max(top, ts)
    }
    def known: Boolean = top > Long.MinValue
    override def dueAt(target: Long): Long =
      if (top / 1000000 % 60 == 19) throw new IllegalStateException("unlucky")
      else super.dueAt(target)
    def watermark: Long = top
    def save(out: DataOutput): Unit = out.writeLong(top)
    def restore(in: DataInput): Unit = top = in.readLong()
  }
}

object Laws extends App {
  PolicyLaws.check(PolicySpec(new LimitedLag, Seq(5, 40)))
  PolicyLaws.check(PolicySpec(new LimitedLag, Seq(5000000, 40000000)), unit = 1000000)
}
"""


def compiled(folder: Path) -> Path:
    """Return a jar with the policies above, compiled with what PySpark has."""
    spark, eventtide = PYSPARK / "jars", jar_of_server()
    page = (ROOT / "docs/reference/policies.md").read_text("utf-8")
    _, _, shop = page.partition("```scala\npackage shop\n")
    (folder / "OnThePage.scala").write_text("package shop\n" + shop.split("```")[0], "utf-8")
    (folder / "Own.scala").write_text(SOURCE, "utf-8")
    services = folder / "classes" / "META-INF" / "services"
    services.mkdir(parents=True)
    kind = "io.eventtide.kernel.watermark.CustomPolicyKind"
    (services / kind).write_text("shop.LimitedLag\nshop.Throwing\n", "utf-8")
    sources = [str(source) for source in folder.glob("*.scala")]
    compiler = ["scala.tools.nsc.Main", "-usejavacp", "-cp", eventtide]
    run(java(), "-cp", f"{spark}/*", *compiler, "-d", f"{folder}/classes", *sources)
    run(
        java(),
        "-cp",
        os.pathsep.join([f"{folder}/classes", eventtide, f"{spark}/*"]),
        "shop.Laws",
    )
    run(jar_command(), "cf", f"{folder}/own.jar", "-C", f"{folder}/classes", ".")
    return folder / "own.jar"


def jar_command() -> str:
    """Return the command that writes jars: that beside Java."""
    return str(Path(java()).with_name("jar"))


def run(*command: str) -> None:
    """Run a command that must not fail."""
    subprocess.run(command, check=True)  # noqa: S603 - our own
