package io.eventtide.spark.planning

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.eventtide.StreamExecutionAccess
import org.apache.spark.sql.internal.SQLConf

import io.eventtide.spark.options.{PolicyFormatter, WatermarkSettings}

/** Describes the watermarks and windows of a DataFrame in words, as JSON. */
private[spark] object PlanExplanation {
  private val mapper = new ObjectMapper()

  def json(stream: DataFrame): String = {
    val node = mapper.createObjectNode()
    val plan = stream.queryExecution.analyzed
    val (ours, stock) =
      StreamExecutionAccess.watermarkNodes(plan).partition(_.isInstanceOf[PolicyWatermark])
    val watermarks = node.putArray("watermarks")
    ours.zipWithIndex.foreach { case (watermark, position) =>
      describe(position, watermark.asInstanceOf[PolicyWatermark], watermarks.addObject())
    }
    val windows = node.putArray("windows")
    WindowAggregate.allIn(plan).zipWithIndex.foreach { case (window, position) =>
      WindowExplanation.describe(position, window, windows.addObject())
    }
    val notes = node.putArray("notes")
    val max = stream.sparkSession.sessionState.conf
      .getConf(SQLConf.STREAMING_MULTIPLE_WATERMARK_POLICY) == "max"
    notesOn(plan, ours.length, stock, max).foreach(notes.add)
    node.toString
  }

  private def describe(position: Int, node: PolicyWatermark, json: ObjectNode): Unit = {
    val settings = node.settings
    json.put("position", position).put("eventTime", node.eventTime.name)
    json.put("name", settings.name.orNull)
    val policy = json.putArray("policy")
    PolicyFormatter.lines(settings).foreach(policy.add)
    json.put("substreams", settings.substreams.text).put("why", settings.substreams.origin)
    json.put("idle", idle(settings)).put("clock", clock(settings))
  }

  private def idle(settings: WatermarkSettings): String =
    settings.idleTimeoutMicros.fold("never")(micros =>
      s"after ${PolicyFormatter.duration(micros)} without rows"
    )

  private def clock(settings: WatermarkSettings): String =
    if (!settings.movesWithClock) "off: only rows advance the watermark"
    else if (settings.isThrottled) "a batch without rows when the watermark would pass its throttle"
    else "a batch without rows when the watermark would move by a second"

  private def notesOn(
      plan: LogicalPlan,
      ours: Int,
      stock: Seq[EventTimeWatermark],
      max: Boolean
  ): Seq[String] = Seq(
    Option.when(!plan.isStreaming)(
      if (WindowAggregate.allIn(plan).isEmpty) "a batch plan: rows pass unchanged"
      else "a batch plan: no row is late, and every window emits its final row"
    ),
    Option.when(ours > 1)(
      s"$ours inputs: the watermark is the lowest of the inputs that are not idle"
    ),
    Option.when(stock.nonEmpty)(
      s"Spark's own watermark on ${stock.map(_.eventTime.name).mkString(", ")} counts as well: " +
        s"Spark takes the ${if (max) "higher" else "lower"} one"
    ),
    Option.when(max && ours > 1 && stock.isEmpty)(
      "spark.sql.streaming.multipleWatermarkPolicy=max does not apply: Eventtide's inputs are " +
        "combined by the minimum"
    )
  ).flatten
}
