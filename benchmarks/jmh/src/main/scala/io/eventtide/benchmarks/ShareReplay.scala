package io.eventtide.benchmarks

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}

import io.eventtide.kernel.completeness.{ClosedWindows, ClosingBatch, FrameRows, WindowCompleteness}
import io.eventtide.kernel.disorder.DisorderHistogram
import io.eventtide.kernel.time.Frame
import io.eventtide.kernel.window.{WindowShape, WindowSpec}

/** Replays the event times of a stream, and prints for each tumbling window that closes after the
  * first tenth of the rows: the lag, the expected share, the rows that it had, and all rows of it.
  *
  * A batch closes windows by what the batches before it have reached, and its rows are late for those
  * that the batch before has closed, as in Spark.
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
      new Replay(stream, size, lag).run().foreach { (window, _) =>
        if (window.rows > 0 && window.batchId > 0) {
          val share = window.rows / (window.rows + window.missing)
          println(s"$lag\t$share\t${window.rows}\t${rows(Math.floorDiv(window.start, size))}")
        }
      }
    }
  }

  private final class Replay(stream: RecordedStream, size: Long, lag: Long) {
    private val spec = WindowSpec(Frame(size), WindowShape.OneFrame)
    private val state = new WindowCompleteness(spec, Int.MaxValue, Memory)
    private var closed = Option.empty[Long] // the last boundary
    private var reached, judging = Long.MinValue
    private var batch, read = 0L

    /** All closed windows; those of the first tenth of the rows have batch 0. */
    def run(): ClosedWindows = {
      stream.foreach(play)
      val windows = new ClosedWindows(Int.MaxValue)
      val saved = new ByteArrayOutputStream
      state.save(new DataOutputStream(saved), whole = true)
      windows.restore(new DataInputStream(new ByteArrayInputStream(saved.toByteArray)))
      windows
    }

    private def play(times: Array[Long]): Unit = {
      val rows = new FrameRows
      times.map(spec.frames.index).foreach { frame =>
        if (closed.exists(frame < _)) rows.late.add(frame) else rows.onTime.add(frame)
      }
      val disorder = new DisorderHistogram
      if (judging != Long.MinValue)
        RecordedStream.behind(times, judging).foreach(disorder.add)
      if (reached != Long.MinValue) closed = Some(spec.closed(reached - lag))
      state.observe(ClosingBatch(batch, 0, closed, reached), rows, disorder)
      judging = reached
      reached = math.max(reached, times.max)
      read += times.length
      if (read >= stream.times.length / 10) batch += 1
    }
  }
}
