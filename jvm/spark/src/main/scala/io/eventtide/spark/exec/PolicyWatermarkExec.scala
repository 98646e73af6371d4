package io.eventtide.spark.exec

import java.util.UUID

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeWatermarkExec
import org.apache.spark.sql.execution.{LeafExecNode, SparkPlan}
import org.apache.spark.unsafe.types.CalendarInterval

import io.eventtide.spark.options.WatermarkSettings
import io.eventtide.spark.plan.EventTimeTag
import io.eventtide.spark.query.BatchWatermark

/** Watches the event times of a batch by substream, and lets the query's policies say the watermark.
  *
  * Spark's tracker collects every `EventTimeWatermarkExec` at the end of a batch and reads its
  * `eventTimeStats`; this is one, with an accumulator that asks the policies.
  *
  * @param batch
  *   the batch it is planned for; None in a plan that will not run as a streaming batch
  */
final class PolicyWatermarkExec(
    nodeId: UUID,
    eventTime: Attribute,
    delay: CalendarInterval,
    child: SparkPlan,
    substream: Seq[Expression],
    settings: WatermarkSettings,
    batch: Option[BatchWatermark],
    // A constructor parameter, since the parent registers it before this body runs; each instance
    // needs a fresh one, since an accumulator can be registered once only.
    override val eventTimeStats: WatermarkRowsAccum
) extends EventTimeWatermarkExec(nodeId, eventTime, delay, child) {

  def this(
      nodeId: UUID,
      eventTime: Attribute,
      delay: CalendarInterval,
      child: SparkPlan,
      substream: Seq[Expression],
      settings: WatermarkSettings,
      batch: Option[BatchWatermark]
  ) =
    this(nodeId, eventTime, delay, child, substream, settings, batch, new WatermarkRowsAccum(batch))

  override val output: Seq[Attribute] = EventTimeTag.on(child.output, eventTime)

  batch.foreach(_.watch(nodeId, eventTimeStats))

  override def copy(
      nodeId: UUID,
      eventTime: Attribute,
      delay: CalendarInterval,
      child: SparkPlan
  ): EventTimeWatermarkExec =
    new PolicyWatermarkExec(nodeId, eventTime, delay, child, substream, settings, batch)

  override protected def otherCopyArgs: Seq[AnyRef] =
    Seq(substream, settings, batch, new WatermarkRowsAccum(batch))

  override def nodeName: String = "PolicyWatermark"

  override protected def doExecute(): RDD[InternalRow] = {
    val stats = eventTimeStats
    val reader = new RowReader(child.output, eventTime, substream, settings, batch.map(_.nowMicros))
    child.execute().mapPartitionsWithIndex { (partition, rows) =>
      new WatchedRows(rows, reader.open(stats.begin(partition)))
    }
  }

  // A stateful operator above serialises its closure with this node in it, and with it the parent's
  // own accumulator, which nobody registered and which therefore refuses. Executors need the output
  // alone, with the event-time tag in its metadata.
  private def writeReplace(): AnyRef = WatermarkStandIn(output)
}

/** What a task sees in place of a watermark node. */
private final case class WatermarkStandIn(output: Seq[Attribute]) extends LeafExecNode {
  override protected def doExecute(): RDD[InternalRow] =
    throw new UnsupportedOperationException("A stand-in for a watermark node does not run.")
}
