package io.eventtide.spark.operators

/** An iterator that looks one element ahead; an element is valid until the next `hasNext` or
  * `next`.
  */
private[operators] abstract class LookaheadIterator[A] extends Iterator[A] {
  private var found = false
  private var ended = false

  /** Advances to the next element; false at the end, after which it is not called again. */
  protected def advance(): Boolean

  /** The element that `advance` has moved to. */
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
