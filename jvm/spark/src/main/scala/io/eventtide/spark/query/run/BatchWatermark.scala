package io.eventtide.spark.query.run

import java.util.UUID

import scala.collection.mutable

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.eventtide.BatchInfo
import org.apache.spark.sql.execution.streaming.operators.stateful.{
  EventTimeStats => SparkEventTimeStats
}

import io.eventtide.kernel.time.Clamped
import io.eventtide.spark.checkpoint.EndOfInput
import io.eventtide.spark.latelog.LateLog
import io.eventtide.spark.operators.LatenessBoundsAccum
import io.eventtide.spark.operators.watermark.{SubstreamStatsAccum, WatermarkBatchContext}
import io.eventtide.spark.options.WindowSettings
import io.eventtide.spark.spi.{BatchEventTimeStats, NextTimer, NextTimerAccum}

/** One micro-batch of a query, as its watermark nodes see it on the driver.
  *
  * @param aheadMicros
  *   how far the query's clock is ahead of the machine's
  */
final class BatchWatermark private[run] (
    query: QueryWatermark,
    end: BatchEnd,
    val info: BatchInfo,
    val aheadMicros: Long
) extends WatermarkBatchContext {
  private val watched = mutable.ArrayBuffer.empty[(UUID, SubstreamStatsAccum)]
  private val late = mutable.HashMap.empty[UUID, LateLog]

  /** Whether the time that has passed counts. */
  def isCredited: Boolean = query.isCredited

  /** Whether each step of the watermark is worth a batch to a window. */
  def batchOnEveryAdvance(window: Int): Boolean = query.batchOnEveryAdvance(window)

  /** The window at a position in the plan, by the rules that the batch goes by. */
  def settings(window: Int): WindowSettings = query.settings(window, info.batchId)

  override def nowMicros: Long = info.timestampMs * 1000

  /** What the query's clock shows, by which durations are measured. */
  def clockMicros: Long = Clamped.add(nowMicros, aheadMicros)

  /** The lowest watermark that the batch can have: the one in the offset log. */
  def watermarkMicros: Long = info.watermarkMs * 1000

  /** Whether every window closes in this batch, the last one of a query that is drained. */
  def closesAll: Boolean = EndOfInput.isAtEnd(info.watermarkMs)

  override def register(nodeId: UUID, rows: SubstreamStatsAccum): Unit = synchronized {
    watched += nodeId -> rows
  }

  /** The late log of a node; copies of the node share one.
    *
    * @param watermarkMicros
    *   what the node's rows are late against in this batch; None while there is no watermark
    */
  def lateLog(nodeId: UUID, watermarkMicros: Option[Long]): LateLog = synchronized {
    late.getOrElseUpdate(nodeId, query.openLate(nodeId, info.batchId, watermarkMicros))
  }

  private val due = mutable.ArrayBuffer.empty[(Int, NextTimerAccum)]
  private val bounds = mutable.ArrayBuffer.empty[(Int, LatenessBoundsAccum)]

  /** Called by each copy of a window, for what it will report to be due next, and of its keys. */
  def register(window: Int, due: NextTimerAccum, bounds: LatenessBoundsAccum): Unit = synchronized {
    this.due += window -> due
    this.bounds += window -> bounds
  }

  /** The bounds of a window's keys before this batch, as its tasks get them. */
  def sentBounds(window: Int): Broadcast[Array[Long]] = query.bounds.send(window)

  /** The keys of a window that were far behind before this batch, by partition. */
  def laggingKeys(window: Int): Map[Int, Seq[Array[Byte]]] = query.laggingKeys(window)

  /** What has been reported of those after it, by window and by partition. */
  private[query] def boundsReported: Map[Int, Iterable[(Int, Array[Long])]] = synchronized {
    bounds.toSeq.groupMap(_._1)(_._2.value).map { case (window, reports) =>
      window -> reports.flatten
    }
  }

  /** What is next due, by the window's position in the plan and by partition; the last copy that ran
    * says it.
    */
  private[query] def nextDue: Map[Int, Map[Int, NextTimer]] = synchronized {
    due.map { case (window, reports) => window -> reports.value }.filter(_._2.nonEmpty).toMap
  }

  /** Whether no task has reported anything. */
  private[query] def hasNoReports: Boolean = synchronized {
    watched.forall(_._2.isZero) && due.forall(_._2.isZero)
  }

  /** The lowest time of rows that were not late; None where nobody judged any, or all were late. */
  private[query] def lowestOnTime: Option[Long] = synchronized {
    val reports = late.valuesIterator.flatMap(_.reports.value)
    reports.map(_.lowest).filter(_ < Long.MaxValue).minOption
  }

  private[query] def lateLogs: Map[UUID, LateLog] = synchronized(late.toMap)

  override def stats: SparkEventTimeStats = hook.stats

  private val hook = new BatchEndHook(this, end)

  /** What the tasks reported, by the position of the input in the plan. */
  private[query] def rows(position: UUID => Int): Map[Int, BatchEventTimeStats] = synchronized {
    watched.toSeq.groupMap(node => position(node._1))(_._2).map { case (input, accumulators) =>
      input -> BatchEventTimeStats.of(accumulators.flatMap(_.reports))
    }
  }
}
