package io.eventtide.spark.latelog

/** A file of the index, parsed from its name: `<batch>`, `<batch>.<revision>`,
  * `fold<level>-<first>-<last>`, `compact-<first>-<last>` or `forgotten-<last>`.
  *
  * In a listing by name, a fold sorts after the files that it replaces, and a higher level after a
  * lower one. So a paged listing during a fold contains the replaced files or the fold.
  *
  * @param first
  *   the first batch that the file covers; `last` is the last one
  * @param revision
  *   the number of earlier writes of the batch; 0 for a fold
  */
private[latelog] final case class LateIndexFile(
    name: String,
    level: Int,
    first: Long,
    last: Long,
    revision: Int = 0
) {
  def isCompacted: Boolean = level == LateIndexFile.CompactedLevel
  def isForgotten: Boolean = level == LateIndexFile.ForgottenLevel

  /** Whether the file's entry of a batch counts. */
  def has(batchId: Long): Boolean = first <= batchId && batchId <= last
}

private[latelog] object LateIndexFile {
  private val Batch = "(\\d{1,18})(?:\\.([1-9]\\d{0,8}))?".r
  private val Compacted = "compact-(\\d{1,18})-(\\d{1,18})".r
  private val CompactedLevel = 10 // above all folds
  private val Forgotten = "forgotten-(\\d{1,18})".r
  private val ForgottenLevel = CompactedLevel + 1
  private val Fold = "fold(\\d)-(\\d{1,18})-(\\d{1,18})".r

  def batch(id: Long, revision: Int = 0): LateIndexFile =
    LateIndexFile(if (revision == 0) s"$id" else s"$id.$revision", 0, id, id, revision)

  /** The file that replaces several files, which are in order. */
  def fold(of: Seq[LateIndexFile]): LateIndexFile = {
    val (level, first, last) = (of.head.level + 1, of.head.first, of.last.last)
    LateIndexFile(s"fold$level-$first-$last", level, first, last)
  }

  /** The file that a compaction writes for these batches, from the first to the last with late
    * rows.
    */
  def compacted(batches: BatchRange): LateIndexFile = LateIndexFile(
    s"compact-${batches.first}-${batches.last}",
    CompactedLevel,
    batches.first,
    batches.last
  )

  /** The file that a retention writes in place of all batches up to and including `last`. */
  def forgotten(last: Long): LateIndexFile =
    LateIndexFile(s"forgotten-$last", ForgottenLevel, 0, last)

  /** The files that count, and the files that a compaction, a fold or a higher revision has
    * replaced. Both are in the order of their batches.
    *
    * Compactions start at the oldest batch, so they cover all batches up to the end of the last
    * compaction. A file of the query that begins before that end counts only after it. Any file
    * that begins before the end of the forgotten batches counts only after that end.
    */
  def sort(names: Seq[String]): (Vector[LateIndexFile], Vector[LateIndexFile]) = {
    val (forgets, files) = names.flatMap(parse).toVector.partition(_.isForgotten)
    val (forgotten, earlier) = forgets.sortBy(-_.last).splitAt(1)
    val (kept, gone) = above(forgotten, files)
    val (compacted, own) = kept.partition(_.isCompacted)
    val (left, replaced) = above(compacted, own)
    val (current, folded) = newest(left)
    (forgotten ++ compacted.sortBy(_.first) ++ current, earlier ++ gone ++ replaced ++ folded)
  }

  // The files with batches after the end of `others`, starting there, and the files without such
  // batches.
  private def above(others: Vector[LateIndexFile], files: Vector[LateIndexFile]) = {
    val reached = others.map(_.last).maxOption.getOrElse(-1L)
    val (left, replaced) = files.partition(_.last > reached)
    (left.map(file => file.copy(first = math.max(file.first, reached + 1))), replaced)
  }

  private def newest(files: Vector[LateIndexFile]) = {
    var reached = -1L
    files.sortBy(order).partition { file =>
      val counts = file.last > reached
      reached = math.max(reached, file.last)
      counts
    }
  }

  private def order(file: LateIndexFile) = (file.first, -file.level, -file.revision)

  private def parse(name: String): Option[LateIndexFile] = name match {
    case Batch(id, revision) => Some(batch(id.toLong, Option(revision).fold(0)(_.toInt)))
    case Compacted(first, last) => Some(compacted(BatchRange(first.toLong, last.toLong)))
    case Forgotten(last) => Some(forgotten(last.toLong))
    case Fold(level, first, last) =>
      Some(LateIndexFile(name, level.toInt, first.toLong, last.toLong))
    case _ => None
  }
}
