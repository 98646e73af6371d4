package io.eventtide.kernel.watermark

/** The source's report on unread rows of a substream. */
sealed abstract class Backlog(private[watermark] val code: Int)

object Backlog {

  /** The source does not report a backlog. */
  case object Unknown extends Backlog(0)

  /** All rows in the source were read. */
  case object Empty extends Backlog(1)

  /** The source has unread rows, so a lack of rows does not mean that the substream is idle. */
  case object Pending extends Backlog(2)

  private[watermark] def of(code: Int): Backlog = code match {
    case Empty.code => Empty
    case Pending.code => Pending
    case _ => Unknown
  }
}
