package io.eventtide.benchmarks

import scala.collection.mutable

import io.eventtide.kernel.completeness.WindowShares
import io.eventtide.kernel.disorder.{DisorderHistogram, RecentDisorder}

/** Replays the event times of a stream, and prints for each tumbling window that closes after the
  * first tenth of the rows: the lag, the expected share, the rows that it had, and all rows of it.
  *
  * A batch closes windows by what the batches before it have reached, as Spark does.
  *
  * Arguments: the files of a `RecordedStream`, the size of windows, and the lags.
  */
object ShareReplay {
  private val Memory = 1000000L // the default of `spark.eventtide.lagCurve.rows`

  def main(args: Array[String]): Unit = {
    val stream = RecordedStream.read(args(0), args(1))
    val size = args(2).toLong
    val rows = stream.times.groupMapReduce(Math.floorDiv(_, size))(_ => 1L)(_ + _)
    args.drop(3).map(_.toLong).foreach { lag =>
      new Replay(stream, size, lag).run { (window, share, had) =>
        println(s"$lag\t$share\t$had\t${rows(window)}")
      }
    }
  }

  private final class Replay(stream: RecordedStream, size: Long, lag: Long) {
    private val recent = new RecentDisorder(Memory)
    private val open = mutable.TreeMap.empty[Long, Long]
    private var closedBelow = Long.MinValue // the number of a window
    private var reached, judging = Long.MinValue
    private var read = 0L

    def run(closed: (Long, Double, Long) => Unit): Unit = stream.foreach { times =>
      val counts = read >= stream.times.length / 10
      val watermark = if (reached == Long.MinValue) reached else reached - lag
      val batch = new DisorderHistogram
      RecordedStream.behind(times, reached).foreach(batch.add)
      times.map(Math.floorDiv(_, size)).filter(_ >= closedBelow).foreach { window =>
        open(window) = open.getOrElse(window, 0L) + 1
      }
      if (watermark != Long.MinValue) close(watermark) { (window, had) =>
        if (counts) closed(window, shares.of(window * size, (window + 1) * size), had)
      }
      recent.add(batch): Unit
      judging = reached
      reached = math.max(reached, times.max)
      read += times.length
    }

    // The batch is assumed to advance the time as the one before it did.
    private def shares = {
      val advance = if (judging == Long.MinValue) 0 else reached - judging
      new WindowShares(recent.rows, reached + advance)
    }

    private def close(watermark: Long)(closed: (Long, Long) => Unit): Unit = {
      val below = Math.floorDiv(watermark, size)
      open.rangeUntil(below).toSeq.foreach { case (window, had) =>
        closed(window, had)
        open -= window
      }
      closedBelow = math.max(closedBelow, below)
    }
  }
}
