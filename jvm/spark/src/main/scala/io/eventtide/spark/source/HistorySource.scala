package io.eventtide.spark.source

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.connector.read.streaming.{
  Offset => OffsetV2,
  ReadLimit,
  SupportsTriggerAvailableNow
}
import org.apache.spark.sql.eventtide.{SparkInternals, StreamExecutionAccess}
import org.apache.spark.sql.execution.streaming.{Offset, Source}
import org.apache.spark.sql.types.StructType

import io.eventtide.spark.checkpoint.{HistoryMark, OffsetFiles}

/** A batch as the source of the first batches of a query, which then goes on with its stream.
  *
  * Batch 0 has all rows. Two batches without rows follow: the first closes windows by the watermark of
  * the rows, and both have an offset that Spark reads as "no offset". Spark continues from the offsets
  * of the last two batches, so the stream begins where its own options say.
  *
  * It is a source of Spark's first API, because such a source returns any plan as its rows.
  *
  * @param rows
  *   the history, as a plan of a batch
  */
private[spark] final class HistorySource(session: SparkSession, rows: LogicalPlan)
    extends Source
    with SupportsTriggerAvailableNow {
  import HistorySource._

  override def schema: StructType = rows.schema

  override def prepareForTriggerAvailableNow(): Unit = ()

  override def getOffset: Option[Offset] =
    throw new UnsupportedOperationException("latestOffset(Offset, ReadLimit) is used")

  override def latestOffset(start: OffsetV2, limit: ReadLimit): OffsetV2 = start match {
    case own if own eq Rows => NoOffset(1) // not one of the log, which is equal to it
    case NoOffset(_) => NoOffset(2)
    case _ => continued
  }

  // With no offset of this run, it has just begun. Spark's start may be that of the batch before the
  // last one, so the checkpoint says which batch is missing. Null is the end.
  private def continued: OffsetV2 = {
    val query = StreamExecutionAccess.starting()
    val root = new Path(query.checkpointRoot)
    val conf = query.session.sessionState.newHadoopConf()
    val offsets = new OffsetFiles(root, conf)
    def hasRows(batch: Long) = offsets.firstOffset(batch).contains(Rows.json)
    offsets.lastBatch match {
      case None => Rows
      case Some(last) if hasRows(last) => NoOffset(1)
      case Some(last) if hasRows(last - 1) => NoOffset(2)
      case _ => null
    }
  }

  override def getBatch(start: Option[Offset], end: Offset): DataFrame =
    if (start.isEmpty && end.json == Rows.json)
      SparkInternals.dataFrame(session, HistoryRows(rows))
    else SparkInternals.noRows(session, rows.output)

  override def stop(): Unit = ()

  override def toString: String = "EventtideHistory"
}

/** A batch as the rows of a micro-batch: Spark plans the operators above for a stream. */
private[spark] final case class HistoryRows(child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override def isStreaming: Boolean = true

  override protected def withNewChildInternal(newChild: LogicalPlan): HistoryRows =
    copy(child = newChild)
}

private object HistorySource {

  /** The offset after the rows. */
  private object Rows extends Offset {
    override val json: String = HistoryMark.RowsOffset
  }

  /** The offset of the first or the second batch without rows. The two differ, so that Spark runs
    * both.
    */
  private final case class NoOffset(number: Int) extends Offset {
    override def json: String = OffsetFiles.NoOffset
    override def equals(other: Any): Boolean = other match {
      case NoOffset(of) => of == number
      case _ => false
    }
    override def hashCode: Int = number
  }
}
