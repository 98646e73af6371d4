package io.eventtide.spark.query

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager

import io.eventtide.spark.EventtideException

/** The watermark plan that a checkpoint belongs to: `<checkpoint>/eventtide/plan`.
  *
  * It holds what the saved state depends on, one line an input: the kinds of its policies and
  * throttles, and its substream. Lags, sizes and timeouts are not in it and may change from run to
  * run.
  */
private[query] final class PlanFile(root: Path, conf: Configuration) {
  private val folder = new Path(root, "eventtide")
  private val file = new Path(folder, "plan")
  private val files = CheckpointFileManager.create(root, conf)

  /** Refuses a checkpoint of another plan, or of a query without one; writes the plan of a new one. */
  def check(inputs: Seq[String]): Unit = {
    val current = inputs.mkString("\n")
    if (files.exists(file)) {
      val stored = read()
      if (stored != current) {
        throw EventtideException(
          "CHECKPOINT_PLAN_CHANGED",
          "root" -> root,
          "stored" -> oneLine(stored),
          "current" -> oneLine(current)
        )
      }
    } else if (hasOffsets) {
      throw EventtideException("CHECKPOINT_WITHOUT_EVENTTIDE", "root" -> root)
    } else write(current)
  }

  private def oneLine(plan: String): String = plan.replace("\n", " + ")

  private def hasOffsets: Boolean = {
    val offsets = new Path(root, "offsets")
    files.exists(offsets) && files.list(offsets).nonEmpty
  }

  private def read(): String = {
    val in = files.open(file)
    try {
      val lines = new String(in.readAllBytes(), UTF_8).split("\n", 2)
      if (lines.head != PlanFile.Version) {
        throw EventtideException(
          "PLAN_VERSION",
          "root" -> root,
          "found" -> lines.head,
          "known" -> PlanFile.Version
        )
      }
      lines(1)
    } finally in.close()
  }

  private def write(plan: String): Unit = {
    files.mkdirs(folder)
    val out = files.createAtomic(file, overwriteIfPossible = true)
    out.write(s"${PlanFile.Version}\n$plan".getBytes(UTF_8))
    out.close()
  }
}

private[query] object PlanFile {
  private val Version = "v1"
}
