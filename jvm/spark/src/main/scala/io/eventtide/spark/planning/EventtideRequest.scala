package io.eventtide.spark.planning

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.analysis.UnresolvedException
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, UnaryNode}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.eventtide.SparkInternals

/** A watermark or a window as a user requests it. Every API builds this node and nothing else.
  *
  * It is lazy: a plan of Spark Connect, of a pipeline or of a SQL text exists before its tables are
  * known. `ResolveEventtideRequest` replaces the node when its input is resolved. `RequestBuilder`
  * has the options and the columns of each request.
  *
  * @param options
  *   all options, as text
  * @param columns
  *   lists of columns over the input, by name. They are no expressions of the node: only the
  *   builders know the plan over which Spark must resolve them.
  */
private[spark] final case class EventtideRequest(
    options: Map[String, String],
    columns: Map[String, Seq[Column]],
    child: LogicalPlan
) extends UnaryNode {
  override lazy val resolved: Boolean = false

  override def output: Seq[Attribute] = throw new UnresolvedException("output")

  override protected def stringArgs: Iterator[Any] = {
    val lists = columns.map { case (name, list) => name -> list.mkString("[", ", ", "]") }
    (options ++ lists).toSeq.sorted.iterator.map { case (name, value) => s"$name=$value" }
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): EventtideRequest =
    copy(child = newChild)
}

private[spark] object EventtideRequest {

  /** The result of a request over a DataFrame, analyzed at once. */
  def over(
      rows: DataFrame,
      options: Map[String, String],
      columns: Map[String, Seq[Column]]
  ): DataFrame = {
    SessionValidator.installed(rows.sparkSession)
    val request = EventtideRequest(options, columns, rows.queryExecution.analyzed)
    SparkInternals.dataFrame(rows.sparkSession, request)
  }
}

/** Replaces each request by the plan that the builders create, once its input is resolved. */
private[spark] final case class ResolveEventtideRequest(session: SparkSession)
    extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case request: EventtideRequest if request.child.resolved =>
      val rows = SparkInternals.dataFrame(session, request.child)
      val built = RequestPlaces.located(request) {
        RequestBuilder.build(rows, request.options, request.columns)
      }
      val result = built.queryExecution.analyzed
      // A batch passes a watermark unchanged. Only a node of its own can have the request's plan id.
      val resolved =
        if (result.fastEquals(request.child)) Project(result.output, result) else result
      SparkInternals.planId(request).foreach(SparkInternals.setPlanId(resolved, _))
      resolved
  }
}
