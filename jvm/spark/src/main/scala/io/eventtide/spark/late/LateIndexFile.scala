package io.eventtide.spark.late

/** A file of the index, by its name: `<batch>`, or `fold<level>-<first>-<last>`.
  *
  * In a listing by name a fold comes after what it replaces, a higher one after a lower one. So where
  * a listing is made of several answers, and files are folded meanwhile, it has one or the other.
  *
  * @param first
  *   the first and the last batch that it has something about
  */
private[late] final case class LateIndexFile(name: String, level: Int, first: Long, last: Long)

private[late] object LateIndexFile {
  private val Batch = "(\\d{1,18})".r
  private val Fold = "fold(\\d)-(\\d{1,18})-(\\d{1,18})".r

  def batch(id: Long): LateIndexFile = LateIndexFile(id.toString, 0, id, id)

  /** One file in place of several, in order. */
  def fold(of: Seq[LateIndexFile]): LateIndexFile = {
    val (level, first, last) = (of.head.level + 1, of.head.first, of.last.last)
    LateIndexFile(s"fold$level-$first-$last", level, first, last)
  }

  /** The files that count and those that a fold has replaced, each in the order of their batches. */
  def sort(names: Seq[String]): (Vector[LateIndexFile], Vector[LateIndexFile]) = {
    var reached = -1L
    names.flatMap(parse).toVector.sortBy(file => (file.first, -file.level)).partition { file =>
      val counts = file.last > reached
      reached = math.max(reached, file.last)
      counts
    }
  }

  private def parse(name: String): Option[LateIndexFile] = name match {
    case Batch(id) => Some(batch(id.toLong))
    case Fold(level, first, last) =>
      Some(LateIndexFile(name, level.toInt, first.toLong, last.toLong))
    case _ => None
  }
}
