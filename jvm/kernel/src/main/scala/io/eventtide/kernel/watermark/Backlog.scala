package io.eventtide.kernel.watermark

/** What the source of a substream says of rows that nobody has read yet. */
sealed abstract class Backlog(private[watermark] val code: Int)

object Backlog {

  /** Nothing: the source cannot tell. */
  case object Unknown extends Backlog(0)

  /** All that the source has was read. */
  case object Empty extends Backlog(1)

  /** There are rows to be read: silence means nothing. */
  case object Waiting extends Backlog(2)

  private[watermark] def of(code: Int): Backlog = code match {
    case Empty.code => Empty
    case Waiting.code => Waiting
    case _ => Unknown
  }
}
