package io.eventtide.spark.operators

/** The time by the query's clock in a task, in microseconds. */
private[spark] sealed trait TaskClock extends Serializable {
  def now: Long
}

private[spark] object TaskClock {

  /** One time for the whole batch, so that a replayed batch has the same results. */
  final case class OfBatch(now: Long) extends TaskClock

  /** The time of the machine, `ahead` microseconds later: a batch in real-time mode takes minutes. */
  final case class Running(ahead: Long) extends TaskClock {
    def now: Long = System.currentTimeMillis() * 1000 + ahead
  }
}
