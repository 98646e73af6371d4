package io.eventtide.spark.operators.watermark

import java.util.UUID

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression}
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeWatermarkExec
import org.apache.spark.sql.execution.{CodegenSupport, LeafExecNode, SparkPlan}
import org.apache.spark.unsafe.types.CalendarInterval

import io.eventtide.spark.options.WatermarkSettings
import io.eventtide.spark.spi.EventTimeMetadata

/** Observes the event times of a batch by substream, and computes the watermark by the query's
  * policies.
  *
  * Spark's tracker collects every `EventTimeWatermarkExec` at the end of a batch and reads its
  * `eventTimeStats`. This node extends that class, with an accumulator that evaluates the policies.
  * Unlike Spark's node, it takes part in code generation: a row is observed between the projections
  * before and after, while it is still in local variables.
  *
  * @param batch
  *   the batch for which it is planned; None in a plan that does not run as a streaming batch
  */
final class PolicyWatermarkExec(
    nodeId: UUID,
    eventTime: Attribute,
    delay: CalendarInterval,
    child: SparkPlan,
    substream: Seq[Expression],
    mark: Option[Expression],
    settings: WatermarkSettings,
    batch: Option[WatermarkBatchContext],
    // A constructor parameter, since the parent registers it before this body runs. Each instance
    // needs a new accumulator, since an accumulator can be registered only once.
    override val eventTimeStats: SubstreamStatsAccum
) extends EventTimeWatermarkExec(nodeId, eventTime, delay, child)
    with CodegenSupport {

  override val output: Seq[Attribute] =
    EventTimeMetadata.on(child.output, eventTime, settings.policy)

  batch.foreach(_.register(nodeId, eventTimeStats))

  override def copy(
      nodeId: UUID,
      eventTime: Attribute,
      delay: CalendarInterval,
      child: SparkPlan
  ): EventTimeWatermarkExec = new PolicyWatermarkExec(
    nodeId,
    eventTime,
    delay,
    child,
    substream,
    mark,
    settings,
    batch,
    new SubstreamStatsAccum(batch)
  )

  override protected def otherCopyArgs: Seq[AnyRef] =
    Seq(substream, mark, settings, batch, new SubstreamStatsAccum(batch))

  override def nodeName: String = "PolicyWatermark"

  override protected def stringArgs: Iterator[Any] =
    Iterator[Any](eventTime, settings.policy) ++ Option.when(substream.nonEmpty)(substream)

  private def observer: EventTimeObserver = {
    val time =
      batch.map(batch => ObservedTime(batch.nowMicros, batch.reached, batch.isRealTime))
    new EventTimeObserver(child.output, eventTime, substream, mark, settings, time, eventTimeStats)
  }

  override protected def doExecute(): RDD[InternalRow] = {
    val rowObserver = observer
    child
      .execute()
      .mapPartitionsWithIndex((partition, rows) => rows.filter(rowObserver.openRows(partition)))
  }

  override def usedInputs: AttributeSet =
    AttributeSet.fromAttributeSets((eventTime +: (substream ++ mark)).map(_.references))

  override def inputRDDs(): Seq[RDD[InternalRow]] =
    child.asInstanceOf[CodegenSupport].inputRDDs()

  override protected def doProduce(ctx: CodegenContext): String =
    child.asInstanceOf[CodegenSupport].produce(ctx, this)

  // A union calls doConsume once per branch, in one generated class: the branches share one report.
  @transient private var observerCode: Option[EventTimeObserverCodegen] = None

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    ctx.currentVars = input
    val code =
      observerCode.filter(_.ctx eq ctx).getOrElse(new EventTimeObserverCodegen(ctx, observer))
    observerCode = Some(code)
    s"""do {
       |  ${code.present}
       |  ${consume(ctx, input)}
       |} while (false);
     """.stripMargin
  }

  // A stateful operator above serializes its closure with this node in it. That includes the
  // parent's own accumulator, which is not registered and therefore cannot be serialized. Executors
  // need only the output, with the event-time tag in its metadata.
  private def writeReplace(): AnyRef = SerializedWatermarkNode(output)
}

/** The placeholder for a watermark node in a task. */
private final case class SerializedWatermarkNode(output: Seq[Attribute]) extends LeafExecNode {
  override protected def doExecute(): RDD[InternalRow] =
    throw new UnsupportedOperationException("A placeholder for a watermark node does not run.")
}
