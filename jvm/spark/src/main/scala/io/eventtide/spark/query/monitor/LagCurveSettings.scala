package io.eventtide.spark.query.monitor

import org.apache.spark.sql.internal.SQLConf

/** The session's settings of lag curves. */
private[query] object LagCurveSettings {
  val Rows = "spark.eventtide.lagCurve.rows"

  /** The number of rows after which earlier rows count half in a lag curve; None without one. */
  def rows(conf: SQLConf): Option[Long] = {
    val rows = MonitorThresholds.setting(conf, Rows, "1000000", "a whole number, 0 for no curve") {
      _.toLongOption.filter(_ >= 0)
    }
    Option.when(rows > 0)(rows)
  }
}
