package io.eventtide.spark.planning

import org.apache.spark.QueryContext
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.{Origin, TreeNodeTag}

import io.eventtide.spark.EventtideException

/** Where a SQL text has the arguments of a call, so that errors point at them.
  *
  * @param call
  *   the whole call
  * @param arguments
  *   the arguments, by their names in SQL
  */
private[spark] final case class RequestPlaces(call: Origin, arguments: Map[String, Origin]) {

  /** The place that an error is about: the argument that it names, or else the call. */
  def of(error: EventtideException): Option[QueryContext] =
    argumentOf(error)
      .flatMap(arguments.get)
      .flatMap(_.getQueryContext.headOption)
      .orElse(call.getQueryContext.headOption)

  private def argumentOf(error: EventtideException): Option[String] = {
    val parameters = error.getMessageParameters
    val named = Option(parameters.get("option")).map(_.stripPrefix("watermark."))
    val reason = Option(parameters.get("reason"))
    named
      .filter(arguments.contains)
      .orElse(reason.flatMap(begins))
      .orElse(reason.filter(_ => RequestPlaces.OfColumns(error.condition)).flatMap(names))
      .orElse(RequestPlaces.About(error.condition))
  }

  // As in "lag must be zero or more".
  private def begins(reason: String): Option[String] =
    arguments.keys.filter(name => reason.startsWith(s"$name ")).toSeq.maxByOption(_.length)

  // The keys or the aggregates, by the column that Spark does not know.
  private def names(reason: String): Option[String] =
    RequestPlaces.Quoted.findFirstMatchIn(reason).flatMap { column =>
      Seq("key_by", "agg").find { name =>
        arguments.get(name).flatMap(_.getQueryContext.headOption).exists { place =>
          place.fragment.contains(column.group(1))
        }
      }
    }
}

private[spark] object RequestPlaces {
  private val Tag = TreeNodeTag[RequestPlaces]("eventtide_places")

  private val OfColumns = Set("WINDOW_COLUMN_UNKNOWN", "WINDOW_UNRESOLVED")
  private val Quoted = "`([^`]+)`".r

  private val Conditions = Seq(
    "event_time" -> "EVENT_TIME_TYPE,UNKNOWN_COLUMN,NO_WATERMARK,DUPLICATE_WATERMARK",
    "substream" -> "SUBSTREAM_UNRESOLVED",
    "policy" -> "INVALID_ARGUMENT,POLICY_FAILED,POLICY_WITHOUT_SUBSTREAM,UNDECLARED_SUBSTREAMS",
    "expected" -> "EXPECTED_WITHOUT_SUBSTREAM",
    "decorators" -> "DUPLICATE_GUARD",
    "into" -> "COLUMN_EXISTS",
    "key_by" -> "COLLATED_KEY_WITH_PANES,KEY_NOT_DETERMINISTIC,KEY_TYPE,METADATA_KEY",
    "agg" -> ("DISTINCT_AGGREGATE,NOT_AN_AGGREGATE,PYTHON_AGGREGATE,PYTHON_OVER_AGGREGATE," +
      "RESULT_NOT_DETERMINISTIC"),
    "size" -> "WINDOW_NOT_MULTIPLE",
    "gap" -> "GAP_NOT_DETERMINISTIC,GAP_TYPE,GAP_UNRESOLVED,GAP_WITHOUT_LENGTH",
    "scope" -> "GROUP_NOT_OF_KEYS",
    "triggers" -> "CONDITION_UNRESOLVED,CONDITION_WITH_DISCARDING"
  )

  /** The argument that a condition is about. */
  private val About: String => Option[String] = Conditions
    .flatMap { case (argument, conditions) =>
      conditions.split(',').map(_ -> argument)
    }
    .toMap
    .get

  def set(request: EventtideRequest, places: RequestPlaces): Unit = request.setTagValue(Tag, places)

  /** Runs work whose errors point at the arguments of a request. */
  def located[A](request: LogicalPlan)(work: => A): A =
    try work
    catch {
      case error: EventtideException =>
        throw error.at(request.getTagValue(Tag).flatMap(_.of(error)))
    }
}
