package io.eventtide.engines

/** The events of one source, one after the other; each takes the place of the one before. */
final class Events(spec: Spec, source: Int) {
  private var made = 0L

  var key = 0
  var value = 0.0
  var time = 0L

  /** Makes the next event; false when there is none. */
  def next(): Boolean = {
    if (made == 0) Run.current.begin()
    val index = Workload.index(made, source)
    val more = index < spec.events
    if (more) make(index)
    more
  }

  private def make(index: Long): Unit = {
    val hash = Workload.hash(index)
    key = Workload.key(index, spec.keys)
    value = Workload.value(hash)
    time = Workload.time(index, hash, spec.perMilli)
    made += 1
  }
}
