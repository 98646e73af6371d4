package io.eventtide.spark.query.monitor

import scala.util.Try

import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.internal.SQLConf

/** Limits for steps of the clock, in microseconds.
  *
  * @param stepMicros
  *   the maximum step forward within a run
  * @param startMicros
  *   the maximum time from the last batch of one run to the start of the next; None for no limit
  */
private[query] final case class ClockLimits(stepMicros: Long, startMicros: Option[Long])

private[query] object ClockLimits {
  val Step = "spark.eventtide.maxClockStep"
  val AtStart = "spark.eventtide.maxClockStepAtStart"

  /** The limits in the session's settings when the query starts.
    *
    * @param configured
    *   the step limit of the query's watermarks, which overrides the session's
    */
  def of(conf: SQLConf, configured: Option[Long]): ClockLimits = ClockLimits(
    configured.getOrElse(time(conf, Step, "5m")),
    Option.when(conf.contains(AtStart))(time(conf, AtStart, "none"))
  )

  private[query] def time(conf: SQLConf, key: String, default: String): Long =
    MonitorThresholds.setting(
      conf,
      key,
      default,
      "a time in Spark's form, such as 90s or 5m, above 0"
    )(text => Try(JavaUtils.timeStringAsSec(text)).toOption.filter(_ > 0).map(_ * 1000000L))
}
