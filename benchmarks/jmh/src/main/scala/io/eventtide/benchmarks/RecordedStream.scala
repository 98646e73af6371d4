package io.eventtide.benchmarks

import java.io.{BufferedInputStream, DataInputStream}
import java.nio.file.{Files, Paths}

/** The event times of a stream in the order of arrival, and the number of rows of each batch. */
final class RecordedStream(val times: Array[Long], batches: Array[Long]) {

  /** Visits the event times of each batch that has rows. */
  def foreach(each: Array[Long] => Unit): Unit = {
    var from = 0
    batches.foreach { rows =>
      if (rows > 0) each(times.slice(from, from + rows.toInt))
      from += rows.toInt
    }
  }
}

object RecordedStream {

  /** Reads two files with big-endian longs: the times, and the rows of each batch. */
  def read(times: String, batches: String): RecordedStream =
    new RecordedStream(longs(times), longs(batches))

  private def longs(file: String): Array[Long] = {
    val path = Paths.get(file)
    val in = new DataInputStream(new BufferedInputStream(Files.newInputStream(path)))
    try Array.fill((Files.size(path) / 8).toInt)(in.readLong())
    finally in.close()
  }

  /** The disorder of rows, relative to the time that was reached before; 0 before the first row. */
  def behind(times: Array[Long], reached: Long): Array[Long] =
    times.map(time => if (reached == Long.MinValue) 0 else math.max(0, reached - time))
}
