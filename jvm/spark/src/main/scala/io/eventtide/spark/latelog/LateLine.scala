package io.eventtide.spark.latelog

/** A line of the index, with only its head parsed. Readers mostly need the head only, and an
  * index may have many thousand lines.
  */
private[latelog] final class LateLine private (
    val batchId: Long,
    val after: Option[Long],
    text: String
) {

  /** Parses the complete line, which must agree with its head. */
  def entry: LateIndexEntry = {
    val entry = LateIndexEntry.read(text)
    if (entry.batchId != batchId || entry.after != after) {
      throw new LateIndexEntry.Foreign(s"a line of batch $batchId names another batch")
    }
    entry
  }
}

private[latelog] object LateLine {
  private val Batch = "{\"batch\":"
  private val After = ",\"after\":"

  def apply(text: String): LateLine = {
    if (!text.startsWith(Batch))
      throw new LateIndexEntry.Foreign("a line does not begin with its batch")
    val end = endOfNumber(text, Batch.length)
    val batchId = text.substring(Batch.length, end).toLong
    new LateLine(batchId, after(text, end), text)
  }

  private def after(text: String, from: Int): Option[Long] =
    Option.when(text.startsWith(After, from)) {
      val begin = from + After.length
      text.substring(begin, endOfNumber(text, begin)).toLong
    }

  private def endOfNumber(text: String, begin: Int): Int = {
    var end = begin
    while (end < text.length && Character.isDigit(text.charAt(end))) end += 1
    end
  }
}
