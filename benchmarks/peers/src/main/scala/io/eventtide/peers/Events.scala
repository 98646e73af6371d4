package io.eventtide.peers

/** The events of one source, one after the other; each takes the place of the one before.
  *
  * It tells the run when it makes its first event, and how fast it was from full windows on.
  */
final class Events(spec: Spec, source: Int) {
  private val run = Run.current
  private val full = spec.full * spec.rate / Workload.Sources
  private var made = 0L
  private var fullSince = 0L // System.nanoTime; unread until `madeWhenFull` is set
  private var madeWhenFull = -1L

  var key = 0
  var value = 0.0
  var time = 0L

  /** Makes the next event; false when there is none. */
  def next(): Boolean = {
    if (made % Workload.Block == 0) look()
    val index = Workload.index(made, source)
    if (index >= spec.events) { end(); false }
    else {
      val hash = Workload.hash(index)
      key = Workload.key(index, spec.keys)
      value = Workload.value(hash)
      time = Workload.time(index, hash, spec.perMilli)
      made += 1
      true
    }
  }

  private def look(): Unit = {
    if (made == 0) run.begin()
    if (madeWhenFull < 0 && made >= full) {
      madeWhenFull = made
      fullSince = System.nanoTime
    }
  }

  private def end(): Unit =
    run.sourceEnded((made - madeWhenFull) * 1e9 / (System.nanoTime - fullSince).toDouble)
}
