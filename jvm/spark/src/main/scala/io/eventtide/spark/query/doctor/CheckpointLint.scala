package io.eventtide.spark.query.doctor

import org.apache.spark.sql.internal.SQLConf

import io.eventtide.spark.checkpoint.SavedClock
import io.eventtide.spark.options.{Durations, WatermarkSettings}

/** The rows on time (None if not known) and the late rows of a checkpoint, its orphaned late files,
  * and its clock.
  */
private[query] final case class CheckpointCounts(
    onTime: Option[Long],
    late: Long,
    orphans: Int,
    clock: SavedClock = SavedClock.None
)

/** Warnings about a query's settings and checkpoint, each with a remedy. */
private[query] object CheckpointLint {

  def apply(
      inputs: Seq[WatermarkSettings],
      spark: Map[String, String],
      partitions: Int,
      counts: CheckpointCounts
  ): Seq[String] =
    inputs.zipWithIndex.flatMap { case (input, i) =>
      inputAdvice(input, nameOf(input, i, inputs.length))
    } ++
      sparkAdvice(spark, partitions) ++ countAdvice(counts)

  val Drained: String =
    "The query was drained: every window is closed, and no query can continue from here. Start " +
      "a query over new rows with a new checkpoint location."

  private def nameOf(input: WatermarkSettings, position: Int, inputs: Int): String =
    if (inputs == 1) "The watermark" else s"The watermark of ${input.label(position)}"

  private def inputAdvice(input: WatermarkSettings, name: String): Seq[String] = Seq(
    Option.when(input.hasSubstreams && input.idleTimeoutMicros.isEmpty)(
      s"$name has substreams (${input.substreams.text}) and no idle timeout: an idle " +
        "substream delays it indefinitely. Set a substream_idle_timeout, unless the query must " +
        "wait for each substream."
    ),
    Option.when(!input.movesWithClock)(
      s"$name advances only with rows: the last windows stay open until more rows come. If that " +
        "matters, use a policy with a lull or a wall-clock lag, or an idle timeout."
    ),
    Option.when(!input.holdsOnRestart && input.idleTimeoutMicros.isDefined)(
      s"$name has on_restart 'resume' and an idle timeout: after a restart with a backlog, " +
        "substreams may be idle before their rows are read. The default prevents that."
    )
  ).flatten

  private def sparkAdvice(settings: Map[String, String], partitions: Int): Seq[String] = Seq(
    Option.when(settings.nonEmpty && partitions >= ManyPartitions) {
      s"The state has $partitions partitions, and each batch opens all of them, even without rows. " +
        "About one per core is best. The checkpoint fixes their number, so a change of " +
        s"${SQLConf.SHUFFLE_PARTITIONS.key} applies to a new checkpoint. For the windows of " +
        "Eventtide, eventtide repartition changes it."
    },
    settings.get(SQLConf.STATE_STORE_PROVIDER_CLASS.key).filterNot(_.contains("RocksDB")).map { _ =>
      "The state is kept in the memory of the executors: with many keys, RocksDB is the better " +
        s"store, ${SQLConf.STATE_STORE_PROVIDER_CLASS.key}. The checkpoint fixes the store."
    }
  ).flatten

  private def countAdvice(counts: CheckpointCounts): Seq[String] = Seq(
    shareLate(counts).filter(_ > ManyLate).map { share =>
      f"${100 * share}%.1f %% of the rows came too late for their windows. The query's log has " +
        "the lag that would have kept them."
    },
    Option.when(counts.orphans > 0)(
      s"${counts.orphans} late files are not in use: they were compacted, or come from failed " +
        "or second attempts. eventtide clean-late removes them."
    ),
    Option.when(counts.clock.steps > 0)(
      s"The machine's clock was set back, ${counts.clock.steps} times in all, by " +
        s"${Durations.inWords(counts.clock.aheadMicros)}. Measured durations were kept, but if a " +
        "policy follows the clock, the watermark waits until the clock shows the same time again."
    )
  ).flatten

  private def shareLate(counts: CheckpointCounts): Option[Double] =
    counts.onTime.filter(_ => counts.late > 0).map { onTime =>
      counts.late.toDouble / (counts.late + onTime)
    }

  private val ManyPartitions = 100
  private val ManyLate = 0.01
}
