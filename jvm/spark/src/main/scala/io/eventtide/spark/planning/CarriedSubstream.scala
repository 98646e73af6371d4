package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, SubqueryAlias}

/** The columns that name the substream of a row, for the late log of a window. */
private[planning] object CarriedSubstream {

  /** The substream columns of the only watermark of a plan. Returns None if the plan's rows do not
    * have them, or if the plan has no watermark or several.
    */
  def of(plan: LogicalPlan): Option[Seq[Expression]] =
    plan.collect { case watermark: PolicyWatermark => watermark.substream } match {
      case Seq(columns) if columns.forall(_.references.subsetOf(plan.outputSet)) => Some(columns)
      case _ => None
    }

  /** The rows with these columns, including columns that a projection above has dropped. */
  def in(plan: LogicalPlan): LogicalPlan =
    if (of(plan).isDefined) plan else carried(plan).getOrElse(plan)

  private def carried(plan: LogicalPlan): Option[LogicalPlan] = plan match {
    case watermark: PolicyWatermark => Some(watermark)
    case Project(columns, child) =>
      carried(child).map { below =>
        val kept = AttributeSet(columns.map(_.toAttribute))
        Project(columns ++ keysOf(below).filterNot(kept.contains), below)
      }
    case Filter(condition, child) => carried(child).map(Filter(condition, _))
    case SubqueryAlias(alias, child) => carried(child).map(SubqueryAlias(alias, _))
    case _ => None
  }

  private def keysOf(plan: LogicalPlan): Seq[Attribute] = {
    val used = plan.collect { case watermark: PolicyWatermark =>
      AttributeSet.fromAttributeSets(watermark.substream.map(_.references))
    }
    plan.output.filter(column => used.exists(_.contains(column)))
  }
}
