package io.eventtide.spark.spi

/** The event time that a query had reached when the watermark was computed by which the rows of a batch
  * are late: the disorder of a row is how far it is behind.
  *
  * Spark judges the rows of a batch by the watermark that the batch before it closed windows by, so a
  * batch with rows between two others delays it.
  *
  * @param micros
  *   the highest value so far of the lowest highest time of the active substreams, in whole
  *   milliseconds, and at least the watermark; the lowest number before the first row
  * @param watermarkMicros
  *   that watermark; the lowest number while there is none
  */
private[spark] final case class ReachedTime(micros: Long, watermarkMicros: Long)

private[spark] object ReachedTime {

  /** Before the first row. */
  val None: ReachedTime = ReachedTime(Long.MinValue, Long.MinValue)
}
