package io.eventtide.spark.operators

import org.apache.spark.sql.execution.datasources.v2.LowLatencyClock

/** The time by the query's clock in a task, in microseconds. */
private[spark] sealed trait TaskClock extends Serializable {
  def now: Long

  /** Whether elapsed time counts for idleness and policies. It does not while a query reads its
    * backlog after a start.
    */
  def isCredited: Boolean
}

private[spark] object TaskClock {

  /** One time for the whole batch, so that a replayed batch has the same results. */
  final case class OfBatch(now: Long, isCredited: Boolean) extends TaskClock

  /** The time by Spark's clock for real-time mode, `ahead` microseconds later: a batch takes minutes.
    * It is the machine's time, except in a script of the test kit.
    *
    * @param startsCredited
    *   whether the query had read its backlog before this batch
    */
  final case class Running(ahead: Long, startsCredited: Boolean) extends TaskClock {
    private var hasCaughtUp = startsCredited

    def now: Long = machineMicros + ahead

    def isCredited: Boolean = hasCaughtUp

    /** Called when the task has read its backlog. */
    def catchUp(): Unit = hasCaughtUp = true
  }

  /** The time by Spark's clock for real-time mode. */
  def machineMicros: Long = LowLatencyClock.getTimeMillis() * 1000
}
