package io.eventtide.spark.planning

import java.util.UUID

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.unsafe.types.CalendarInterval

import io.eventtide.kernel.watermark.FutureGuard
import io.eventtide.spark.options.WatermarkSettings
import io.eventtide.spark.spi.{EventTimeMetadata, WatermarkNode}

/** A watermark node whose value comes from a policy over substreams.
  *
  * It must be an `EventTimeWatermark`. Spark's tracker identifies such nodes by their id in the
  * first plan. Every rule and operator that looks for a watermark looks for that class. The delay
  * is zero, because the policy has already applied its lag.
  *
  * The expressions of substream and mark are part of the product. So column pruning, alias
  * rewriting and `makeCopy` treat them like any other expression of a node.
  */
final class PolicyWatermark(
    nodeId: UUID,
    eventTime: Attribute,
    delay: CalendarInterval,
    child: LogicalPlan,
    val substream: Seq[Expression],
    val mark: Option[Expression],
    val settings: WatermarkSettings
) extends EventTimeWatermark(nodeId, EventTimeMetadata.asTimestamp(eventTime), delay, child)
    with WatermarkNode {

  override val output: Seq[Attribute] =
    EventTimeMetadata.on(child.output, eventTime, settings.policy)

  override def usesIngestionTime: Boolean = child.exists(_.expressions.exists {
    case column @ Alias(IngestionTime(), _) => column.exprId == eventTime.exprId
    case _ => false
  })

  /** This node with another future guard. */
  def by(guard: Option[FutureGuard]): PolicyWatermark = new PolicyWatermark(
    nodeId,
    eventTime,
    delay,
    child,
    substream,
    mark,
    settings.copy(guard = guard)
  )

  override def productArity: Int = 7

  override def productElement(n: Int): Any = n match {
    case 4 => substream
    case 5 => mark
    case 6 => settings
    case _ => super.productElement(n)
  }

  override def copy(
      nodeId: UUID,
      eventTime: Attribute,
      delay: CalendarInterval,
      child: LogicalPlan
  ): EventTimeWatermark =
    new PolicyWatermark(nodeId, eventTime, delay, child, substream, mark, settings)

  override def canEqual(other: Any): Boolean = other.isInstanceOf[PolicyWatermark]

  // The case class compares only its four fields. A rewritten substream must make nodes differ.
  override def equals(other: Any): Boolean = other match {
    case that: PolicyWatermark =>
      super.equals(that) && substream == that.substream && mark == that.mark &&
      settings == that.settings
    case _ => false
  }

  override def hashCode(): Int = super.hashCode()

  override def nodeName: String = "PolicyWatermark"

  override protected def stringArgs: Iterator[Any] =
    Iterator[Any](eventTime, settings.policy) ++ Option.when(substream.nonEmpty)(substream)
}

object PolicyWatermark {
  private val NoDelay = new CalendarInterval(0, 0, 0)

  def apply(
      nodeId: UUID,
      eventTime: Attribute,
      child: LogicalPlan,
      substream: Seq[Expression],
      mark: Option[Expression],
      settings: WatermarkSettings
  ): PolicyWatermark =
    new PolicyWatermark(nodeId, eventTime, NoDelay, child, substream, mark, settings)
}
