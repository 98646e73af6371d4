package io.eventtide.spark.storm

import java.sql.Timestamp
import java.time.{Instant, LocalDateTime, ZoneOffset}

import org.apache.spark.sql.Row

/** Assembles windows from the lines of `RowWindowOutput` in one partition, and calls a function with
  * each.
  *
  * The windows of a key are in order, each with the rows that no earlier window had. A line lists
  * the rows of its window by number.
  */
private[storm] final class WindowStage[T](function: TupleWindow => IterableOnce[T])
    extends (Iterator[Row] => Iterator[T])
    with Serializable {

  override def apply(lines: Iterator[Row]): Iterator[T] = {
    val key = new KeyWindows
    lines.flatMap(line => key.next(line).iterator.flatMap(function))
  }
}

/** The windows of one key after the other. */
private[storm] final class KeyWindows {
  private val held = new HeldRows
  private var key = Row.empty
  private var before = RowRanges.Empty
  private var lowest = 0 // the rows below are in no later window, and not in the last one

  /** The window of a line; None if the line has only rows. */
  def next(line: Row): Option[TupleWindow] = {
    Option(line.getAs[Row]("_key")).foreach(begin)
    held.forget(lowest)
    held.add(line.getAs[collection.Seq[Row]]("_rows"))
    Option(line.getAs[Row]("_window")).map(window)
  }

  private def begin(line: Row): Unit = {
    held.clear()
    lowest = 0
    key = line.getAs[Row]("key")
    before = RowRanges.read(line.getAs[Array[Byte]]("before"))
  }

  private def window(line: Row): TupleWindow = {
    val now = RowRanges.read(line.getAs[Array[Byte]]("rows"))
    val start = Option(line.getAs[Any]("start")).map(KeyWindows.instant)
    val made =
      new TupleWindow(held, now, before, start, KeyWindows.instant(line.getAs[Any]("end")), key)
    before = now
    lowest = math.min(line.getAs[Int]("lowest"), now.lowest)
    made
  }
}

private[storm] object KeyWindows {

  private def instant(time: Any): Instant = time match {
    case one: Instant => one
    case one: Timestamp => one.toInstant
    case local => local.asInstanceOf[LocalDateTime].toInstant(ZoneOffset.UTC) // of TIMESTAMP_NTZ
  }
}
