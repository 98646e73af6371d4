package io.eventtide.spark.testkit

import java.util.{List => JList}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import org.apache.spark.sql.classic.DataFrame

import io.eventtide.kernel.watermark.PolicySpec
import io.eventtide.kernel.window.{
  FrameArchive,
  FrameCombining,
  InMemoryBatches,
  KeyIdleness,
  KeyRules
}
import io.eventtide.spark.EventtideException
import io.eventtide.spark.options.{WindowKind, WindowSettings}
import io.eventtide.spark.planning.{PolicyWatermark, WindowAggregate}

/** Runs a window in the kernel, without Spark, so that the test kit can compare a query with it.
  *
  * The caller numbers the rows. Times are in microseconds.
  */
final class KernelOracle private (
    settings: WindowSettings,
    windows: WindowKind.Aggregating,
    policy: PolicySpec
) {
  import KernelOracle.Key

  private val buffers = new RowIdBuffers
  private val mapper = new ObjectMapper
  private val rowOf = mutable.HashMap.empty[Key, Int] // the number of some row of each key
  private val idleness = settings.byKey.fold(KeyIdleness(None, ttl = 0))(_.idleness)
  private val engine = new InMemoryBatches[Key](
    KeyRules(
      policy,
      group,
      idleness,
      settings.triggers.map(_.trigger),
      settings.maxRowsPerStep,
      Option.when(settings.discards)(buffers)
    ),
    windows.open(
      WindowKind.KeyBuffers(buffers, FrameCombining.Merge, FrameArchive.None),
      settings.latenessMicros
    )
  )

  private def group: Option[Key => Any] =
    if (settings.hasGroups) Some(_.group)
    else if (settings.hasOwnTime) None
    else KeyRules.Together

  /** Processes a batch of rows and returns the results as JSON. Each row has a number, the names of
    * its key and of the key's group, a time, and a session gap; the latter two are null for a row
    * without them. An example:
    *
    * {{{
    *   {"late": [3], "results": [
    *     {"start": 0, "end": 10, "timing": "on_time", "index": 0, "last": true, "trigger": "",
    *      "rows": [0, 1], "of": 1}]}
    * }}}
    */
  def batch(
      now: Long,
      numbers: JList[Integer],
      keys: JList[String],
      groups: JList[String],
      times: JList[Number],
      gaps: JList[Number]
  ): String = {
    val named = keys.asScala.lazyZip(groups.asScala).map(Key(_, _))
    val timed = times.asScala.lazyZip(gaps.asScala).map(micros(_) -> micros(_))
    val rows = numbers.asScala.toSeq.lazyZip(named).lazyZip(timed).map { (number, key, of) =>
      rowOf(key) = number.toInt
      number.toInt -> row(key, of._1, of._2, buffers.of(Vector(number)))
    }
    val numberOf = rows.map(_.swap).toMap
    answer(give => engine.batch(now, rows.map(_._2))(give).map(numberOf))
  }

  // py4j sends a small number as an Integer
  private def micros(number: Number): Option[Long] = Option(number).map(_.longValue)

  private def row(
      key: Key,
      time: Option[Long],
      gap: Option[Long],
      buffer: Int
  ): InMemoryBatches.Row[Key] = (time, gap) match {
    case (None, _) => InMemoryBatches.Row.withoutTime(key, buffer)
    case (Some(ts), Some(own)) => InMemoryBatches.Row.withGap(key, ts, own, buffer)
    case (Some(ts), None) => InMemoryBatches.Row(key, ts, buffer)
  }

  /** Advances the clock without rows; the result is as for `batch`. */
  def tick(now: Long): String = answer { give =>
    engine.tick(now)(give)
    Nil
  }

  private def answer(run: (InMemoryBatches.Pane[Key] => Unit) => Seq[Int]): String = {
    val json = mapper.createObjectNode()
    val results = json.putArray("results")
    val late = json.putArray("late")
    run(pane => show(pane, results.addObject())).foreach(late.add(_): Unit)
    buffers.reset()
    mapper.writeValueAsString(json)
  }

  private def show(pane: InMemoryBatches.Pane[Key], json: ObjectNode): Unit = {
    json.put("start", pane.start).put("end", pane.end)
    json.put("timing", pane.timing.name).put("index", pane.index).put("last", pane.isLast)
    json.put("trigger", settings.triggers(pane.trigger).name)
    val rows: ArrayNode = json.putArray("rows")
    buffers(pane.buffer).foreach(rows.add(_): Unit)
    json.put("of", rowOf(pane.key)): Unit
  }
}

object KernelOracle {

  private final case class Key(name: String, group: String)

  /** The kernel run of the last window of a plan, over rows of one substream. */
  def of(results: DataFrame): KernelOracle = {
    val plan = results.queryExecution.analyzed
    val settings = WindowAggregate.allIn(plan).head.settings
    val policy = plan.collectFirst { case node: PolicyWatermark => node.settings.policy }
    val hasCondition = settings.triggers.exists(_.trigger.onCondition)
    (settings.windows, policy) match {
      case (windows: WindowKind.Aggregating, Some(policy)) if !hasCondition =>
        new KernelOracle(settings, windows, policy)
      case _ => throw EventtideException("NO_KERNEL_RUN")
    }
  }
}
