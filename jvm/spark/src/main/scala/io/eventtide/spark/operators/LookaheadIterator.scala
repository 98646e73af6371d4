package io.eventtide.spark.operators

/** What is found one after the other, and is good until the next is looked for. */
private[operators] abstract class LookaheadIterator[A] extends Iterator[A] {
  private var found = false
  private var ended = false

  /** Turns to the next one; false when there is none, after which it is not called again. */
  protected def advance(): Boolean

  /** The one that was turned to. */
  protected def current: A

  final def hasNext: Boolean = {
    if (!found && !ended) {
      found = advance()
      ended = !found
    }
    found
  }

  final def next(): A = {
    if (!hasNext) throw new NoSuchElementException
    found = false
    current
  }
}
