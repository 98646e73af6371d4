package io.eventtide.benchmarks

import scala.collection.mutable.ArrayBuffer

import io.eventtide.kernel.disorder.{DisorderHistogram, LateTarget, LateTargetSpec}

/** Replays the event times of a stream under rules that choose a lag, and prints the late rows, the
  * rows and the mean lag of each, after the first tenth of the rows.
  *
  * Arguments: the files of a `RecordedStream`, and the targets in millionths.
  */
object LagReplay {

  def main(args: Array[String]): Unit = {
    val stream = RecordedStream.read(args(0), args(1))
    for {
      target <- args.drop(2).map(_.toLong)
      (name, rule) <- rules(stream, target)
    } {
      val found = replay(stream, rule)
      println(s"$target\t$name\t${found.late}\t${found.rows}\t${found.meanLag}")
    }
  }

  final case class Found(late: Long, rows: Long, meanLag: Long)

  /** Chooses a lag after each batch. */
  trait Rule {
    def lag: Long
    def observe(disorder: Array[Long], late: Long): Unit
  }

  private def replay(stream: RecordedStream, rule: Rule): Found = {
    var top, watermark = Long.MinValue
    var (read, rows, late, batches) = (0L, 0L, 0L, 0L)
    var lags = 0.0
    stream.foreach { times =>
      val lateNow = times.count(_ < watermark).toLong
      val counts = read >= stream.times.length / 10
      read += times.length
      rule.observe(RecordedStream.behind(times, top), lateNow)
      top = math.max(top, times.max)
      watermark = math.max(watermark, top - rule.lag)
      if (counts) {
        rows += times.length
        late += lateNow
        batches += 1
        lags += (top - watermark).toDouble
      }
    }
    Found(late, rows, (lags / batches).toLong)
  }

  private def rules(stream: RecordedStream, target: Long): Seq[(String, Rule)] = {
    val disorder = disorderOf(stream)
    Seq(
      "best fixed lag" -> new Fixed(quantile(disorder, target)),
      "fixed by the first tenth" -> new Fixed(
        quantile(disorder.take(disorder.length / 10), target)
      ),
      "last 4096 rows" -> new Last(4096, target),
      "policy, forever" -> new Learnt(target, forgives = false),
      "policy, recent" -> new Learnt(target, forgives = true)
    )
  }

  private def disorderOf(stream: RecordedStream): Array[Long] = {
    val all = ArrayBuffer.empty[Long]
    var top = Long.MinValue
    stream.foreach { times =>
      all ++= RecordedStream.behind(times, top)
      top = math.max(top, times.max)
    }
    all.toArray
  }

  /** The lowest lag with which at most the target is late. */
  private def quantile(disorder: Array[Long], target: Long): Long = {
    val sorted = disorder.sorted
    val late = sorted.length * target / 1000000
    sorted(math.max(0, sorted.length - 1 - late.toInt))
  }

  private final class Fixed(val lag: Long) extends Rule {
    def observe(disorder: Array[Long], late: Long): Unit = ()
  }

  /** The quantile of the last rows, without regard to the rows that were late. */
  private final class Last(rows: Int, target: Long) extends Rule {
    private val ring = new Array[Long](rows)
    private var seen = 0L
    var lag = 0L

    def observe(disorder: Array[Long], late: Long): Unit = {
      disorder.foreach { one =>
        ring((seen % rows).toInt) = one
        seen += 1
      }
      lag = quantile(ring.take(math.min(seen, rows.toLong).toInt), target)
    }
  }

  private final class Learnt(target: Long, forgives: Boolean) extends Rule {
    private val loop =
      new LateTarget(LateTargetSpec(target, Long.MaxValue, start = 0, memory = 65536, forgives))

    def lag: Long = loop.lag

    def observe(disorder: Array[Long], late: Long): Unit = {
      val rows = new DisorderHistogram
      disorder.foreach(rows.add)
      loop.observe(rows, late)
    }
  }
}
