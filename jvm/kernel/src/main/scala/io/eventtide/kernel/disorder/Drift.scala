package io.eventtide.kernel.disorder

/** A change of disorder: the lag that a share of the rows needs, in the last hour and in the week
  * before.
  *
  *   - '''Units:''' lags are in the unit of event time.
  *
  * @param share share of the rows that are late with these lags
  */
final case class Drift(share: Double, lastHour: Long, week: Long) {

  /** How often the week's lag fits into the last hour's; below one if disorder has fallen. */
  def factor: Double = lastHour.toDouble / math.max(1L, week)
}

object Drift {

  /** The change by which a drift is reported: half or twice the lag. */
  val Threshold = 2.0

  private val Shares = Seq(0.1, 0.01, 0.001)
  private val LeastLate = 10 // fewer rows say little about a share

  /** The largest change beyond `Threshold`; None if there is none, or if there are too few rows.
    *
    * @param least the lag below which a change does not matter
    */
  def of(lastHour: DisorderHistogram, week: DisorderHistogram, least: Long): Option[Drift] = {
    val changes = for {
      share <- Shares
      if Seq(lastHour, week).forall(_.rows * share >= LeastLate)
      drift = Drift(share, lagFor(lastHour, share), lagFor(week, share))
      if math.max(drift.lastHour, drift.week) >= least && distance(drift) > math.log(Threshold)
    } yield drift
    changes.maxByOption(distance)
  }

  private def lagFor(rows: DisorderHistogram, share: Double): Long =
    rows.lagFor((rows.rows * share).toLong)

  private def distance(drift: Drift): Double =
    math.abs(math.log(math.max(drift.lastHour, 1L).toDouble / math.max(drift.week, 1L)))
}
