package io.eventtide.spark.latelog

import java.util.UUID

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  GenericInternalRow,
  JoinedRow
}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.eventtide.{SparkInternals, StreamExecutionAccess}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy, UnaryExecNode}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{DataFrame, classic}

import io.eventtide.spark.options.LateSettings
import io.eventtide.spark.query.run.{BatchWatermark, QueryWatermarks}
import io.eventtide.spark.spi.HasLateOutput

/** Takes the rows below the watermark out of a stream, as a window does, and has no windows. */
final case class MarkLate(
    eventTime: Attribute,
    lateSettings: LateSettings,
    child: LogicalPlan,
    lateNode: UUID = UUID.randomUUID()
) extends UnaryNode
    with HasLateOutput {

  override def output: Seq[Attribute] = child.output

  override def lateRow: StructType = child.schema

  // Late rows have all their columns, whatever is done with the others.
  override lazy val references: AttributeSet = child.outputSet

  override protected def withNewChildInternal(newChild: LogicalPlan): MarkLate =
    copy(child = newChild)
}

object MarkLate {

  def on(stream: DataFrame, settings: LateSettings): DataFrame = {
    val frame = stream.asInstanceOf[classic.DataFrame]
    val plan = frame.queryExecution.analyzed
    val time = plan.output.find(_.name == "ts").get
    SparkInternals.dataFrame(frame.sparkSession, MarkLate(time, settings, plan))
  }
}

final case class MarkLateStrategy(session: SparkSession) extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case node: MarkLate =>
      val batch =
        StreamExecutionAccess
          .current(session)
          .flatMap(QueryWatermarks.plannedBatch(_, node.lateNode))
      MarkLateExec(node.eventTime, node.lateNode, batch, planLater(node.child)) :: Nil
    case _ => Nil
  }
}

final case class MarkLateExec(
    eventTime: Attribute,
    node: UUID,
    batch: Option[BatchWatermark],
    child: SparkPlan
) extends UnaryExecNode {

  override def output: Seq[Attribute] = child.output

  override protected def doExecute(): RDD[InternalRow] = {
    val watermark = batch.map(_.watermarkMicros).filter(_ > 0)
    val log = batch.get.lateLog(node, watermark)
    val time = child.output.indexWhere(_.exprId == eventTime.exprId)
    child.execute().mapPartitionsWithIndex { (partition, rows) =>
      val late = log.open(partition)
      val names = new GenericInternalRow(2)
      rows.filter { row =>
        val isLate = watermark.exists(row.getLong(time) < _)
        if (isLate)
          late.add(
            new JoinedRow(row, names),
            LateReason.BehindWatermark,
            row.getLong(time),
            Some(1)
          )
        !isLate
      }
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): MarkLateExec =
    copy(child = newChild)
}
