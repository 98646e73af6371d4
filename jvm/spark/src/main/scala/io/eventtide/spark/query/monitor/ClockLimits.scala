package io.eventtide.spark.query.monitor

import scala.util.Try

import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.internal.SQLConf

import io.eventtide.spark.query.monitor.MonitorThresholds

/** How far a clock may go by itself; in microseconds.
  *
  * @param stepMicros
  *   forward, within a run
  * @param startMicros
  *   from the last batch of one run to the start of the next; None for as far as it likes
  */
private[query] final case class ClockLimits(stepMicros: Long, startMicros: Option[Long])

private[query] object ClockLimits {
  val Step = "spark.eventtide.maxClockStep"
  val AtStart = "spark.eventtide.maxClockStepAtStart"

  /** What the session says when the query starts, unless its watermarks say less or more. */
  def of(conf: SQLConf, asked: Option[Long]): ClockLimits = ClockLimits(
    asked.getOrElse(time(conf, Step, "5m")),
    Option.when(conf.contains(AtStart))(time(conf, AtStart, "none"))
  )

  private def time(conf: SQLConf, key: String, default: String): Long =
    MonitorThresholds.setting(
      conf,
      key,
      default,
      "a time in Spark's form, such as 90s or 5m, above 0"
    )(text => Try(JavaUtils.timeStringAsSec(text)).toOption.filter(_ > 0).map(_ * 1000000L))
}
