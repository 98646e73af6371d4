package io.eventtide.spark.checkpoint

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.eventtide.SparkShims

import io.eventtide.kernel.time.FrameGrid
import io.eventtide.spark.options.{StoredFrames, StoredWindow, Structure, WindowHistory}
import io.eventtide.spark.spi.PlanNodes

/** The structure of a query that its saved state depends on: its inputs and windows, in plan order.
  *
  * Lags, throttles and timeouts are not part of it and may change between runs.
  */
private[spark] final case class CheckpointStructure(
    inputs: Seq[Structure],
    windows: Seq[Structure]
) {

  /** A readable line for each input and each window. */
  def lines: Seq[String] =
    named("input", inputs) ++ named("window", windows.map(WindowHistory.presentOf))

  private def named(part: String, parts: Seq[Structure]): Seq[String] =
    parts.zipWithIndex.map { case (one, position) => s"$part $position: ${one.text}" }

  /** Readable differences from another query; empty if that query can continue from this state. */
  def differences(other: CheckpointStructure): Seq[String] = {
    val (stored, current) =
      if (isReorderOf(other)) (windows, other.windows)
      else windows.zip(other.windows).map((WindowHistory.lasting _).tupled).unzip
    (differences("input", inputs, other.inputs) ++ differences(
      "window",
      stored ++ windows.drop(stored.length),
      current ++ other.windows.drop(stored.length)
    )).distinct
  }

  // In another order, each window would continue from the state of a different window.
  private def isReorderOf(other: CheckpointStructure): Boolean = {
    val (stored, current) =
      (windows.map(WindowHistory.presentOf), other.windows.map(WindowHistory.presentOf))
    stored != current && stored.map(_.text).sorted == current.map(_.text).sorted
  }

  /** The changes of a query that can continue from this state, one line for each. */
  def changes(next: CheckpointStructure): Seq[String] =
    windows.zip(next.windows).zipWithIndex.flatMap { case ((stored, window), position) =>
      WindowHistory.changes(stored, window).map(change => s"window $position: $change")
    }

  /** The structure of a query that continues from this state, including the history of its windows.
    *
    * @param closed
    *   the last closed boundary of a grid; None if no window has closed
    */
  def continuedBy(
      next: CheckpointStructure,
      closed: FrameGrid => Option[Long]
  ): CheckpointStructure =
    copy(windows = windows.zip(next.windows).map { case (stored, window) =>
      WindowHistory.after(stored, window, closed)
    })

  private def differences(
      part: String,
      stored: Seq[Structure],
      current: Seq[Structure]
  ): Seq[String] = {
    val isOnly = stored.length == 1 && current.length == 1
    stored.map(Some(_)).zipAll(current.map(Some(_)), None, None).zipWithIndex.flatMap {
      case ((Some(before), Some(now)), position) =>
        val prefix = if (isOnly) "" else s"$part $position, "
        before.differences(now).map { case (name, was, is) =>
          CheckpointStructure.difference(s"$prefix$name", was, is)
        }
      case ((before, now), position) =>
        val texts = Seq(before, now).map(_.fold("none")(_.text))
        Seq(CheckpointStructure.difference(s"$part $position", texts.head, texts.last))
    }
  }

  /** A JSON object with two arrays of objects: inputs and windows. */
  def json: String = {
    val node = CheckpointStructure.mapper.createObjectNode()
    for ((name, parts) <- Seq("inputs" -> inputs, "windows" -> windows)) {
      val array = node.putArray(name)
      parts.foreach { part =>
        val of = array.addObject()
        part.settings.foreach { case (setting, value) => of.put(setting, value) }
      }
    }
    node.toString
  }
}

private[spark] object CheckpointStructure {
  private val mapper = new ObjectMapper()

  def of(plan: LogicalPlan): CheckpointStructure = {
    val windows = PlanNodes.windows(plan)
    val others = plan.exists { node =>
      SparkShims.isStateful(node) && !windows.exists(_.aggregation eq node)
    }
    CheckpointStructure(
      PlanNodes.watermarks(plan).map(_.settings.structure),
      if (windows.length == 1 && !others) windows.map(_.structure)
      else windows.map(_.structure ++ Seq(StoredFrames.BesideOtherState))
    )
  }

  /** Reads what `json` has written, and fails on anything else. */
  def read(json: String): CheckpointStructure = {
    val node = mapper.readTree(json)
    val windows = parts(node.required("windows"))
    windows.foreach(StoredWindow(_).requireReadable())
    CheckpointStructure(parts(node.required("inputs")), windows)
  }

  private def parts(array: JsonNode): Seq[Structure] = array.elements.asScala.toSeq.map { part =>
    Structure(part.properties.asScala.toSeq.map(one => one.getKey -> one.getValue.asText))
  }

  private def difference(name: String, stored: String, current: String): String =
    s"$name: $stored in the checkpoint, $current in this query"
}
