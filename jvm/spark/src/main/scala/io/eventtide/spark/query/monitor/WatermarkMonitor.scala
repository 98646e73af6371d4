package io.eventtide.spark.query.monitor

import scala.util.Try

import org.apache.spark.internal.Logging
import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.internal.SQLConf

import io.eventtide.spark.EventtideException
import io.eventtide.spark.latelog.{BatchLateness, LatenessHistogram}
import io.eventtide.spark.options.Durations

/** Looks at a query's batches, and says in the driver's log what its owner would want to know.
  *
  *   - A watermark that stands still while rows arrive, for many batches and for long: who holds it
  *     back, once until it moves.
  *   - Rows of which too many come too late: what lag would have kept them, once until there are fewer.
  *
  * Batches without rows do not count. What the policies say is looked at, since a throttle may well let
  * nothing through for a while.
  *
  * @param name
  *   the query's, as a log has it
  */
private[query] class WatermarkMonitor(name: String, limits: MonitorThresholds) extends Logging {
  private var ideal = Option.empty[Long]
  private var still = 0
  private var stillSince = Long.MaxValue
  private var isStuck = false
  private var span = LatenessSample.None
  private var isLate = false
  private var isNear = false // the limit of substreams

  /** A batch with rows has ended, whose own time is `nowMicros`. */
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
    if (span.batches == limits.stuckBatches) {
      val was = isLate
      isLate = span.share > limits.lateShare
      if (isLate && !was) warn(lateness(span))
      span = LatenessSample.None
    }
  }

  private def stuck(report: WatermarkReport, nowMicros: Long): String =
    s"The watermark of $name has not moved for $still batches with rows, which is " +
      s"${Durations.inWords(nowMicros - stillSince)}. ${report.blame}"

  private def lateness(span: LatenessSample): String = {
    val percent = f"${span.share * 100}%.1f".replaceAll("\\.0$", "")
    val most = span.by.atMost(WatermarkMonitor.MostRows).map(WatermarkMonitor.about)
    val all = span.by.atMost(1).map(WatermarkMonitor.about)
    val lag = (most, all) match {
      case (Some(nine), Some(ten)) if nine != ten =>
        s": a lag longer by $nine would have kept nine of ten, one longer by $ten all of them"
      case (_, Some(ten)) => s": a lag longer by $ten would have kept them"
      case _ => ""
    }
    s"Of the rows of $name in its last ${span.batches} batches, $percent % came too late for " +
      s"their windows$lag."
  }

  /** The substreams of an input may become more and more. */
  def growsUnasked(substreams: String): Unit = warn(
    s"The substreams of $name ($substreams) are never forgotten, since it has no idle timeout: where " +
      "they come and go, they become more until max_substreams stops the query. Give an " +
      "idle_timeout and a substream_ttl, or substream_ttl='never' where there are few for good."
  )

  /** The machine's clock went forward by itself, which no policy of the query follows. */
  def clockSetForward(byMicros: Long): Unit = warn(
    s"The clock of $name went forward by ${Durations.inWords(byMicros)} more than time has passed. No " +
      "policy of the query follows it, but idle timeouts and timers go by it."
  )

  /** The clock is far from that of the last batch. */
  def clockFarFromLast(far: String): Unit = warn(
    s"The clock shows a time $far the last batch of $name. If that is how long the query was down, " +
      s"all is well; ${ClockLimits.AtStart} sets a limit from which on it does not start."
  )

  /** A batch has ended with so many substreams. */
  def counted(inputs: Seq[SubstreamLimit]): Unit = {
    val near = inputs.flatMap(_.warning)
    if (near.nonEmpty && !isNear) near.foreach(text => warn(s"$text This is $name."))
    isNear = near.nonEmpty
  }

  /** The machine's clock was set back. */
  def clockSetBack(byMicros: Long, nowMicros: Long): Unit = warn(
    s"The clock of $name went back by ${Durations.inWords(byMicros)}, to " +
      s"${WatermarkReport.text(Some(nowMicros))}. What was measured until then, such as the silence " +
      "of a substream, is kept and goes on from there; the watermark never goes back."
  )

  /** Something could not be told. */
  def failed(by: Throwable): Unit = logWarning(s"What $name has to say could not be told.", by)

  protected def warn(text: String): Unit = logWarning(text)
}

private[query] object WatermarkMonitor {
  private val MostRows = 0.9

  /** A length in words that is a little longer rather than exact to the microsecond. */
  private def about(micros: Long): String = {
    val unit = if (micros < 10000000L) 1000L else 1000000L
    val whole = if (micros > Long.MaxValue - unit) micros else -Math.floorDiv(-micros, unit) * unit
    Durations.inWords(whole)
  }
}

private final case class LatenessSample(
    batches: Int,
    onTime: Long,
    late: Long,
    by: LatenessHistogram
) {
  def share: Double = if (late == 0) 0 else late.toDouble / (late + onTime)

  def and(more: BatchLateness): LatenessSample =
    LatenessSample(batches + 1, onTime + more.onTime, late + more.late, by ++ more.by)
}

private object LatenessSample {
  val None: LatenessSample = LatenessSample(0, 0, 0, LatenessHistogram.None)
}

/** When a query's owner is warned.
  *
  * @param stuckBatches
  *   after so many batches with rows in which the watermark has not moved; also how many batches
  *   the share of late rows is taken over
  * @param stuckMicros
  *   not before it has stood still for so long, by the batches' own times
  * @param lateShare
  *   when a larger part of the rows is too late; from 0 to 1
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

  /** What the session says when the query starts. */
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
