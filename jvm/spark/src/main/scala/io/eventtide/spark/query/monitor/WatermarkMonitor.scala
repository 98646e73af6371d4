package io.eventtide.spark.query.monitor

import scala.util.Try

import org.apache.spark.internal.Logging
import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.internal.SQLConf

import io.eventtide.kernel.disorder.Drift
import io.eventtide.spark.EventtideException
import io.eventtide.spark.latelog.BatchLateness
import io.eventtide.spark.options.{Durations, ShareText}

/** Monitors a query's batches and logs warnings on the driver.
  *
  *   - A watermark that has not advanced for `stuckBatches` batches with rows and for
  *     `stuckMicros`: the warning names the substream that delays it. It is logged once until
  *     the watermark advances.
  *   - A share of late rows above `lateShare`: the warning has the lag that would have kept the
  *     rows. It is logged once until the share falls.
  *   - A large change of disorder from the last week to the last hour: it is logged once until it has
  *     gone.
  *
  * Batches without rows do not count. The policies' watermark before throttles is checked, because
  * a throttle may delay the emitted watermark for a while.
  *
  * @param name
  *   the label of the query in the log
  */
private[query] class WatermarkMonitor(name: String, limits: MonitorThresholds) extends Logging {
  private var ideal = Option.empty[Long]
  private var still = 0
  private var stillSince = Long.MaxValue
  private var isStuck = false
  private var span = BatchLateness.None // of `spanBatches` batches
  private var spanBatches = 0
  private var isLate = false
  private var drifting = Set.empty[String] // the inputs whose disorder has changed
  private var isNear = false // whether the number of substreams is near its limit

  /** Records the end of a batch with rows at the clock value `nowMicros`. */
  def ended(
      nowMicros: Long,
      report: => WatermarkReport,
      ideal: Option[Long],
      late: BatchLateness
  ): Unit = {
    if (ideal != this.ideal || stillSince > nowMicros) begin(nowMicros) else still += 1
    this.ideal = ideal
    val was = isStuck
    isStuck = still >= limits.stuckBatches && nowMicros - stillSince >= limits.stuckMicros
    if (isStuck && !was) warn(stuck(report, nowMicros))
    count(late)
  }

  private def begin(nowMicros: Long): Unit = {
    still = 0
    stillSince = nowMicros
  }

  private def count(late: BatchLateness): Unit = {
    span = span.and(late)
    spanBatches += 1
    if (spanBatches == limits.stuckBatches) {
      val was = isLate
      isLate = span.share > limits.lateShare
      if (isLate && !was) warn(lateness)
      span = BatchLateness.None
      spanBatches = 0
    }
  }

  private def stuck(report: WatermarkReport, nowMicros: Long): String =
    s"The watermark of $name has not moved for $still batches with rows, which is " +
      s"${Durations.inWords(nowMicros - stillSince)}. ${report.blame}"

  private def lateness: String = {
    val percent = f"${span.share * 100}%.1f".replaceAll("\\.0$", "")
    val most = lagFor(WatermarkMonitor.MostRows).map(WatermarkMonitor.about)
    val all = lagFor(1).map(WatermarkMonitor.about)
    val lag = (most, all) match {
      case (Some(nine), Some(ten)) if nine != ten =>
        s": a lag longer by $nine would have kept nine of ten, one longer by $ten all of them"
      case (_, Some(ten)) => s": a lag longer by $ten would have kept them"
      case _ => ""
    }
    s"Of the rows of $name in its last $spanBatches batches, $percent % came too late for " +
      s"their windows$lag."
  }

  // The lag that would have kept a part of the late rows; None without late rows.
  private def lagFor(part: Double): Option[Long] = {
    val rows = span.by.rows
    Option.when(rows > 0)(span.by.lagFor(rows - math.ceil(rows * part).toLong))
  }

  /** Warns that the number of an input's substreams may grow without bound. */
  def growsUnbounded(substreams: String): Unit = warn(
    s"The substreams of $name ($substreams) are never removed, because it has no idle timeout: if " +
      "they come and go, their number grows until max_substreams stops the query. Set a " +
      "substream_idle_timeout and a substream_ttl, which is 'never' if there are always few."
  )

  /** Warns that the machine's clock jumped forward, in a query whose policies do not follow it. */
  def clockSetForward(byMicros: Long): Unit = warn(
    s"The clock of $name went forward by ${Durations.inWords(byMicros)} more than time has passed. No " +
      "policy of the query follows it, but idle timeouts and timers use it."
  )

  /** Warns that the clock is far from the time of the last batch. */
  def clockFarFromLast(far: String): Unit = warn(
    s"The clock shows a time $far the last batch of $name. If the query was down for that long, " +
      s"nothing is wrong; ${ClockLimits.AtStart} sets a limit above which it does not start."
  )

  /** Records the number of substreams of each input after a batch. */
  def counted(inputs: Seq[SubstreamLimit]): Unit = {
    val near = inputs.flatMap(_.warning)
    if (near.nonEmpty && !isNear) near.foreach(text => warn(s"$text This is $name."))
    isNear = near.nonEmpty
  }

  /** Records the changes of disorder after a batch, each with the name of its input. */
  def drifted(inputs: Seq[(String, Drift)]): Unit = {
    inputs.filterNot(of => drifting(of._1)).foreach { case (input, drift) =>
      warn(WatermarkMonitor.inWords(input, name, drift))
    }
    drifting = inputs.map(_._1).toSet
  }

  /** Warns that the machine's clock was set back. */
  def clockSetBack(byMicros: Long, nowMicros: Long): Unit = warn(
    s"The clock of $name went back by ${Durations.inWords(byMicros)}, to " +
      s"${WatermarkReport.text(Some(nowMicros))}. Measured durations, such as the idle time of a " +
      "substream, are kept and continue from there; the watermark never goes back."
  )

  /** Logs a failure to report. */
  def failed(by: Throwable): Unit = logWarning(s"The report of $name has failed.", by)

  protected def warn(text: String): Unit = logWarning(text)
}

private[query] object WatermarkMonitor {

  private def inWords(input: String, query: String, drift: Drift): String = {
    val change = if (drift.lastHour > drift.week) "risen" else "fallen"
    val share = ShareText.text(math.round(drift.share * 1000000))
    s"The disorder of $input of $query has $change: for $share late rows, the last hour needs a " +
      s"lag of ${about(drift.lastHour)}, the week before ${about(drift.week)}."
  }

  private val MostRows = 0.9

  /** A duration in words, rounded up to milliseconds below 10 s and to seconds from 10 s. */
  private def about(micros: Long): String = {
    val unit = if (micros < 10000000L) 1000L else 1000000L
    val whole = if (micros > Long.MaxValue - unit) micros else -Math.floorDiv(-micros, unit) * unit
    Durations.inWords(whole)
  }
}

/** The thresholds for warnings about a query.
  *
  * @param stuckBatches
  *   the number of batches with rows without an advance of the watermark before it counts as stuck;
  *   also the number of batches over which the share of late rows is computed
  * @param stuckMicros
  *   the minimum time without an advance before it counts as stuck, by the batches' times
  * @param lateShare
  *   the share of late rows above which a warning is logged; from 0 to 1
  */
private[query] final case class MonitorThresholds(
    stuckBatches: Int,
    stuckMicros: Long,
    lateShare: Double
)

private[query] object MonitorThresholds {
  val StuckBatches = "spark.eventtide.warn.stuckBatches"
  val StuckFor = "spark.eventtide.warn.stuckFor"
  val LateShare = "spark.eventtide.warn.lateShare"

  /** The thresholds in the session's settings when the query starts. */
  def of(conf: SQLConf): MonitorThresholds = MonitorThresholds(
    setting(conf, StuckBatches, "100", "a whole number of one or more")(text =>
      text.toIntOption.filter(_ >= 1)
    ),
    setting(conf, StuckFor, "5m", "a time in Spark's form, such as 90s or 5m")(text =>
      Try(JavaUtils.timeStringAsSec(text)).toOption.filter(_ >= 0).map(_ * 1000000L)
    ),
    setting(conf, LateShare, "0.01", "a number from 0 to 1")(text =>
      text.toDoubleOption.filter(share => share >= 0 && share <= 1)
    )
  )

  private[query] def setting[T](conf: SQLConf, key: String, default: String, allowed: String)(
      read: String => Option[T]
  ): T = {
    val text = conf.getConfString(key, default)
    read(text.trim).getOrElse {
      throw EventtideException(
        "INVALID_SETTING",
        "setting" -> key,
        "value" -> text,
        "allowed" -> allowed,
        "default" -> default
      )
    }
  }
}
