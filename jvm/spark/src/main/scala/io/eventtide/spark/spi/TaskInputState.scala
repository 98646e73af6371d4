package io.eventtide.spark.spi

/** The policies of a query in a task of real-time mode, after the rows so far.
  *
  * @param emittedMicros
  *   the watermark; None while there is none
  * @param inputs
  *   the saved state of each input
  */
private[spark] final case class TaskInputState(
    emittedMicros: Option[Long],
    inputs: Seq[Array[Byte]]
)
