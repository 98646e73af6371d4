package io.eventtide.engines

/** The arithmetic of the events and of the checksum, as SQL has it in `benchmarks/workload.py`.
  *
  *   - '''Units:''' event times are milliseconds.
  *   - '''Edges:''' hashes overflow on purpose; values are quarters, so that any order of adding
  *     them up gives the same sum.
  */
object Workload {

  /** The event time of event 0 before its jitter. */
  final val Start = 1600000000000L

  /** How far back jitter puts an event at most, and so the lag of every watermark. */
  final val Lag = 2000L

  /** The sources of a job, as many as it has threads. */
  final val Sources = 2

  /** The number of successive events of one source. */
  final val Block = 1024

  private val Golden = 0x9e3779b97f4a7c15L
  private val Mixer = 0xd6e8feb86659fd93L

  /** The event that source `source` makes when it has made `made` events. */
  def index(made: Long, source: Int): Long =
    (made / Block * Sources + source) * Block + made % Block

  /** What jitter and value of event `index` are bits of. */
  def hash(index: Long): Long = {
    var x = (index + 1) * Golden
    x ^= x >>> 12
    x ^= x << 25
    x ^ (x >>> 27)
  }

  def key(index: Long, keys: Int): Int = ((index * 2654435761L) % keys).toInt

  def time(index: Long, hash: Long, perMilli: Long): Long =
    Start + index / perMilli - (((hash >>> 44) * Lag) >>> 20)

  def value(hash: Long): Double = ((hash >>> 20) & 4095) * 0.25

  /** 32 bits of a result; those of all results are added up. */
  def checksum(end: Long, key: Int, count: Long, total: Double, most: Double): Long = {
    var x = end / 1000
    x = x * 1000003L + key
    x = x * 1000003L + count
    x = x * 1000003L + (total * 4).toLong
    x = x * 1000003L + (most * 4).toLong
    x *= Golden
    ((x ^ (x >>> 32)) * Mixer) >>> 32
  }
}
