package io.eventtide.spark.planning

import java.util.Locale

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeMap,
  AttributeSet,
  Expression
}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, SubqueryAlias}
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.catalyst.util.toPrettySQL
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.sources.DataSourceRegister

import io.eventtide.spark.EventtideException
import io.eventtide.spark.options.SubstreamDescription

/** The substream key of a stream.
  *
  * @param keys
  *   columns of `plan`; empty for a stream that is one substream
  * @param plan
  *   the stream, with missing key columns added
  */
private[spark] final case class SubstreamSelection(
    keys: Seq[Attribute],
    label: SubstreamDescription,
    plan: LogicalPlan
)

private[spark] object SubstreamSelection {

  private val KeyPrefix = "_eventtide_substream_"

  /** The substream key that a user named, as columns or expressions over them. */
  def named(stream: DataFrame, columns: Seq[Column]): SubstreamSelection = {
    val plan = stream.queryExecution.analyzed
    val widened = resolve(stream, columns)
    val named = widened match {
      case Project(all, child) if child == plan => all.takeRight(columns.length)
      case _ => unresolved(stream, columns, "it is not an expression over one row")
    }
    if (!named.forall(_.deterministic)) unresolved(stream, columns, "it is not deterministic")
    val label = SubstreamDescription.named(named.map(text(_, plan)).mkString(", "))
    // Existing columns need no projection, which would copy every row.
    val own = named.collect { case Alias(column: Attribute, _) => column }
    if (own.length == named.length) SubstreamSelection(own, label, plan)
    else SubstreamSelection(named.map(_.toAttribute), label, widened)
  }

  private def resolve(stream: DataFrame, columns: Seq[Column]): LogicalPlan = {
    val keys = columns.zipWithIndex.map { case (column, i) => column.as(s"$KeyPrefix$i") }
    try stream.select(col("*") +: keys: _*).queryExecution.analyzed
    catch {
      case reason: AnalysisException =>
        unresolved(stream, columns, reason.getMessage.linesIterator.next())
    }
  }

  private def unresolved(stream: DataFrame, columns: Seq[Column], reason: String): Nothing =
    throw EventtideException(
      "SUBSTREAM_UNRESOLVED",
      "substream" -> columns.mkString(", "),
      "reason" -> reason,
      "available" -> stream.columns.mkString(", ")
    )

  // The key as Spark would name the column, with the stream's names. Ids, qualifiers and the user's
  // spelling are left out, so that another run produces the same text. A column whose name is not
  // unique has its position.
  private def text(key: Expression, stream: LogicalPlan): String = {
    val same = stream.output.groupBy(_.name.toLowerCase(Locale.ROOT))
    val own = AttributeMap(stream.output.zipWithIndex.map { case (column, i) =>
      val alone = same(column.name.toLowerCase(Locale.ROOT)).length == 1
      column -> (if (alone) column else column.withName(s"${column.name}[$i]"))
    })
    toPrettySQL(key.transformUp {
      case Alias(child, _) => child
      case column: Attribute => own.getOrElse(column, column)
    })
  }

  /** The substream key of a stream for which the user named none.
    *
    * For Kafka it is the topic partition, because each is read in order, at its own pace. Every
    * other source is one substream, because a finished file would stop the minimum permanently, and
    * Spark's partition ids change from batch to batch.
    */
  def default(plan: LogicalPlan): SubstreamSelection =
    kafka(plan).getOrElse(SubstreamSelection(Nil, SubstreamDescription.Global, plan))

  // Matches any spelling of the format.
  private def isKafka(relation: StreamingRelationV2): Boolean = {
    val registered = relation.source.collect { case source: DataSourceRegister =>
      source.shortName()
    }
    registered.getOrElse(relation.sourceName).equalsIgnoreCase("kafka")
  }

  // Walks through projections, filters and aliases down to the relation, and adds topic and
  // partition to projections that have dropped them.
  private def kafka(plan: LogicalPlan): Option[SubstreamSelection] = plan match {
    case relation: StreamingRelationV2 if isKafka(relation) =>
      val keys = Seq("topic", "partition").flatMap(name => relation.output.find(_.name == name))
      Option.when(keys.length == 2)(SubstreamSelection(keys, SubstreamDescription.Kafka, relation))
    case Project(columns, child) =>
      kafka(child).map { choice =>
        val kept = AttributeSet(columns.map(_.toAttribute))
        choice.copy(plan = Project(columns ++ choice.keys.filterNot(kept.contains), choice.plan))
      }
    case Filter(condition, child) =>
      kafka(child).map(choice => choice.copy(plan = Filter(condition, choice.plan)))
    case SubqueryAlias(alias, child) =>
      kafka(child).map(choice => choice.copy(plan = SubqueryAlias(alias, choice.plan)))
    case _ => None
  }
}
