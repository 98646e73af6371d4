package io.eventtide.spark.sql

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.eventtide.SparkInternals
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

import io.eventtide.spark.options.OptionReader
import io.eventtide.spark.planning.{EventtideRequest, RequestBuilder}

/** The arguments of a window. */
private[sql] final class WindowArguments(call: FunctionCall) {
  private val values = new ArgumentReader(call.session)
  private val times = new TimeReader(call.session)
  private val lists = new ExpressionList(call.session)
  private val settings = new SettingReader(call)
  private val watermark = new WatermarkArguments(call)
  private val triggers = new TriggerReader(call)

  def request: EventtideRequest = {
    if (!call.get("processing_time").exists(values.flag))
      windows(watermark.eventTime, call.table.plan)
    else {
      call.get("event_time").orElse(call.get("policy")).foreach { other =>
        other.refuse("SQL_PROCESSING_TIME")
      }
      windows(Some(WindowArguments.ProcessingTime), batchTimes)
    }
  }

  // The time of the batch as a column, below the window.
  private def batchTimes: EventtideRequest = {
    val into = Map("into" -> WindowArguments.ProcessingTime)
    val options = RequestBuilder.options("with_ingestion_time", into, IngestionTimeFunction.Policy)
    val id = FunctionCall.uuid(s"${call.id}/${WindowArguments.ProcessingTime}")
    call.request(options, Map.empty, call.table.plan, id)
  }

  private def windows(eventTime: Option[String], rows: LogicalPlan): EventtideRequest = {
    val aggregates = lists.columns(call.required("agg", "aggregates, such as 'count(*) AS n'"))
    val columns = Map(
      "substream" -> watermark.substream,
      "keys" -> keys,
      "aggregates" -> aggregates,
      "when" -> triggers.condition.toSeq,
      "gap" -> rowGap.toSeq,
      "scope" -> scopeColumns
    )
    val own = options ++ eventTime.map("event_time" -> _)
    val all = RequestBuilder.options("window", own, watermark.options)
    call.request(all, columns, rows, call.id)
  }

  private def options: Map[String, String] = {
    val storm =
      if (call.get("length").isDefined) new StormSizes(call).options else Map.empty[String, String]
    val kind = storm.getOrElse("kind", WindowArguments.kind(call))
    val plain = WindowFunction.settings
      .filterNot(of => WindowArguments.Special(of.option))
      .filter(of => of.option != "slide" || of.belongsTo(kind))
      .distinctBy(_.option)
    val own = settings.options(plain)
    WindowArguments.refuseOtherSizes(call, if (storm.isEmpty) kind else "storm")
    storm ++ own ++ gap ++ scope ++ triggers.options + ("kind" -> kind)
  }

  private def keys: Seq[Column] = {
    val partition = call.table.partitionByExpressions.map(SparkInternals.column)
    call.get("key_by").fold(partition) { argument =>
      if (partition.nonEmpty) argument.refuse("SQL_KEYS_TWICE")
      lists.columns(argument)
    }
  }

  private def gap: Map[String, String] =
    call.get("gap").fold(Map.empty[String, String]) { argument =>
      val text = if (rowGap.isDefined) "column" else times.duration(argument, isPositive = true)
      Map("gap" -> text)
    }

  /** The gap of each row: an expression that is not a constant. */
  private def rowGap: Option[Column] =
    call.get("gap").filterNot(WindowArguments.isDuration).map(lists.column)

  private def scope: Map[String, String] =
    call.get("scope").fold(Map.empty[String, String]) { argument =>
      Map("scope" -> WindowArguments.scopeName(argument).getOrElse("group"))
    }

  private def scopeColumns: Seq[Column] =
    call.get("scope").filter(WindowArguments.scopeName(_).isEmpty).toSeq.flatMap(lists.columns)
}

private[sql] object WindowArguments {

  /** The column with the time of the batch, under Python's name. */
  val ProcessingTime = "_processing_time"

  /** The settings that are not a single constant. */
  val Special: Set[String] = Set("gap", "scope", "triggers")

  // The first argument of a call decides.
  private val Kinds = Seq(
    "rows" -> "count",
    "gap" -> "session",
    "step" -> "cumulate",
    "slide" -> "sliding",
    "size" -> "tumbling"
  )

  /** The kind of windows, which the sizes of a call define. */
  def kind(call: FunctionCall): String =
    Kinds.collectFirst { case (size, kind) if call.get(size).isDefined => kind }.getOrElse {
      OptionReader.missing(
        "size",
        "the length of a window, with slide or step for windows that overlap; or set gap for " +
          "sessions, rows for windows of a number of rows, or length for Storm's windows"
      )
    }

  // The arguments that say what a window is, and its bounds.
  private val Sizes = Seq("size", "slide", "step", "gap", "rows", "length", "profile")

  private val SizesOf = Map(
    "count" -> Set("rows", "slide"),
    "session" -> Set("gap", "profile"),
    "cumulate" -> Set("size", "step", "profile"),
    "sliding" -> Set("size", "slide", "profile"),
    "tumbling" -> Set("size", "profile"),
    "storm" -> Set("length", "slide")
  )

  /** Refuses the sizes of another kind of windows than that of the call. */
  def refuseOtherSizes(call: FunctionCall, kind: String): Unit =
    Sizes.filterNot(SizesOf(kind)).flatMap(name => call.get(name)).headOption.foreach { other =>
      other.refuse(
        "SETTING_CONFLICT",
        "value" -> other.text,
        "problem" -> s"has no meaning for windows of the kind $kind",
        "allowed" -> SizesOf(kind).toSeq.sorted.mkString(", "),
        "fix" -> s"Remove ${other.name}"
      )
    }

  /** Whether a gap is one length for all rows. A text is an expression unless it begins as a
    * duration does.
    */
  def isDuration(gap: Argument): Boolean = gap.value match {
    case Literal(text: UTF8String, _: StringType) => DurationStart.matches(text.toString)
    case QuotedArgument(_) => false
    case _ => true
  }

  private val DurationStart = "(?is)\\s*([-+.\\d]|P[\\dT]|interval\\b).*".r

  /** `key` or `global`, as a text; None for columns. */
  def scopeName(scope: Argument): Option[String] = scope.value match {
    case Literal(text: UTF8String, _: StringType) =>
      Some(text.toString).filter(Set("key", "global"))
    case _ => None
  }
}
