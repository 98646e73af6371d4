package io.eventtide.spark.query.run

import java.io.{DataInput, DataOutput}

/** The growth rate of an input's substreams, over the last 30 to 60 minutes of the query's clock.
  *
  *   - '''Restart:''' `save` and `restore`, so that reports on a checkpoint include the rate.
  */
private[query] final class SubstreamGrowth {
  import SubstreamGrowth._

  private var base = Option.empty[Sample]
  private var next = Option.empty[Sample]
  private var last = Option.empty[Sample]

  /** Records the number of substreams after a batch. */
  def add(clockMicros: Long, count: Int): Unit = {
    val sample = Sample(clockMicros, count)
    if (next.forall(clockMicros - _.clockMicros >= SpanMicros)) {
      base = next.orElse(Some(sample))
      next = Some(sample)
    }
    last = Some(sample)
  }

  /** The time until there are `most` substreams at the current rate; None if their number does not
    * grow.
    */
  def reachesInMicros(most: Int): Option[Long] = for {
    from <- base
    to <- last
    added = to.count - from.count
    if added > 0 && to.clockMicros > from.clockMicros
  } yield {
    val perSubstream = (to.clockMicros - from.clockMicros).toDouble / added
    (perSubstream * math.max(0, most - to.count)).toLong
  }

  def save(out: DataOutput): Unit = Seq(base, next, last).foreach { sample =>
    out.writeBoolean(sample.isDefined)
    sample.foreach { of => out.writeLong(of.clockMicros); out.writeInt(of.count) }
  }

  def restore(in: DataInput): Unit = {
    base = read(in)
    next = read(in)
    last = read(in)
  }

  private def read(in: DataInput): Option[Sample] =
    Option.when(in.readBoolean())(Sample(in.readLong(), in.readInt()))
}

private object SubstreamGrowth {
  private val SpanMicros = 1800000000L

  private final case class Sample(clockMicros: Long, count: Int)
}
