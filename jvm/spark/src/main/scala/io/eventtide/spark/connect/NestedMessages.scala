package io.eventtide.spark.connect

import io.eventtide.spark.EventtideException

/** Limits how deep requests are nested, each over the rows of the next one.
  *
  * The content of a request is bytes to Spark Connect, whose own limit does not apply to it. Without
  * a limit, a message can exhaust the stack of the server's thread.
  */
private[connect] object NestedMessages {
  private val Most = 100
  private val depth = ThreadLocal.withInitial(() => 0)

  /** Reads a message; messages below it are read meanwhile, by the same thread. */
  def limited[A](read: => A): A = {
    val above = depth.get
    if (above == Most) {
      val problem = s"more than $Most requests are nested"
      throw EventtideException("CONNECT_MESSAGE_INVALID", "problem" -> problem)
    }
    depth.set(above + 1)
    try read
    finally depth.set(above)
  }
}
