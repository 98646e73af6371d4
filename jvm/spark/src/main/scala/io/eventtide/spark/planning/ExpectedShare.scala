package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry.FunctionBuilder
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  ExpressionInfo,
  Literal,
  UnaryExpression,
  Unevaluable
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.toPrettySQL
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.eventtide.StreamExecutionAccess
import org.apache.spark.sql.types.{
  DataType,
  DoubleType,
  StructField,
  StructType,
  TimestampNTZType,
  TimestampType
}

import io.eventtide.kernel.completeness.WindowShares
import io.eventtide.spark.EventtideException
import io.eventtide.spark.query.run.QueryWatermarks
import io.eventtide.spark.spi.PlanNodes

/** The share of the rows of a window that have come, as it is expected when the window closes. Each
  * micro-batch has its own shares, which `FillExpectedShare` fills in.
  *
  * It is marked nondeterministic, as `IngestionTime`, so that no rule moves it before it is filled
  * in.
  *
  * @param child
  *   the window column of results
  */
final case class ExpectedShare(child: Expression) extends UnaryExpression with Unevaluable {
  override lazy val deterministic: Boolean = false
  override def dataType: DataType = DoubleType
  override def nullable: Boolean = true
  override def prettyName: String = ExpectedShare.Name

  override def checkInputDataTypes(): TypeCheckResult = child.dataType match {
    case StructType(Array(start: StructField, end: StructField))
        if start.dataType == end.dataType && ExpectedShare.Times(end.dataType) =>
      TypeCheckResult.TypeCheckSuccess
    case other =>
      TypeCheckResult.TypeCheckFailure(s"a window column is needed, and this is ${other.sql}")
  }

  override protected def withNewChildInternal(newChild: Expression): ExpectedShare =
    copy(child = newChild)
}

private[spark] object ExpectedShare {
  val Name = "eventtide_expected_share"
  private val Times = Set[DataType](TimestampType, TimestampNTZType)

  /** The function of SQL. */
  val function: (FunctionIdentifier, ExpressionInfo, FunctionBuilder) = (
    FunctionIdentifier(Name),
    new ExpressionInfo(classOf[ExpectedShare].getName, Name),
    {
      case Seq(window) => ExpectedShare(window)
      case others =>
        throw EventtideException("EXPECTED_SHARE_ARGUMENTS", "count" -> others.length)
    }
  )

  /** The windows of a plan whose shares are asked for, each with the text of its column. None is a
    * column that is not the window of results.
    */
  private[planning] def asked(plan: LogicalPlan): Seq[(String, Option[WindowAggregate])] = {
    val windows = WindowAggregate.allIn(plan)
    plan.flatMap(_.expressions).flatMap(_.collect { case ExpectedShare(window) => window }).map {
      column => toPrettySQL(column) -> windowOf(column, windows)
    }
  }

  private[planning] def windowOf(
      column: Expression,
      windows: Seq[WindowAggregate]
  ): Option[WindowAggregate] = column match {
    case attribute: Attribute => windows.find(_.window.exprId == attribute.exprId)
    case _ => None
  }

  /** Refuses shares of windows whose rows are not counted before the shuffle. */
  def check(query: LogicalPlan, isRealTime: Boolean): Unit = asked(query).foreach {
    case (column, window) =>
      if (isRealTime || window.forall(_.settings.isJudgedByKey))
        throw EventtideException("EXPECTED_SHARE_WINDOW", "column" -> column)
  }
}

/** Replaces the shares of a micro-batch with their values. In a batch all rows have come. */
final case class FillExpectedShare(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (ExpectedShare.asked(plan).isEmpty) plan
    else {
      lazy val windows = WindowAggregate.allIn(plan)
      plan.transformAllExpressions { case ExpectedShare(column) =>
        val window = ExpectedShare.windowOf(column, windows)
        if (window.forall(!_.isStreaming)) Literal(1.0)
        else KnownShare(column, window.flatMap(sharesOf))
      }
    }

  private def sharesOf(window: WindowAggregate): Option[WindowShares] =
    for {
      query <- StreamExecutionAccess.current(session)
      batch <- QueryWatermarks.plannedBatch(query, window.nodeId)
      shares <- batch.shares(
        PlanNodes.windows(query.analyzedPlan).indexWhere(_.nodeId == window.nodeId)
      )
    } yield shares
}

/** The expected share of a window; null if nothing is known of the disorder of rows. */
final case class KnownShare(child: Expression, shares: Option[WindowShares])
    extends UnaryExpression
    with CodegenFallback {
  override def dataType: DataType = DoubleType
  override def nullable: Boolean = true

  override protected def nullSafeEval(window: Any): Any = {
    val bounds = window.asInstanceOf[InternalRow]
    shares.map(_.of(bounds.getLong(0), bounds.getLong(1))).filterNot(_.isNaN).getOrElse(null)
  }

  override protected def stringArgs: Iterator[Any] = Iterator(child)

  override protected def withNewChildInternal(newChild: Expression): KnownShare =
    copy(child = newChild)
}
