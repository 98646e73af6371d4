package io.eventtide.spark.operators.window

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{StateStoreIterator, UnsafeRowPair}

import io.eventtide.kernel.watermark.PolicySpec
import io.eventtide.kernel.window.SharedWatermark
import io.eventtide.spark.operators.{BatchTime, PartitionBoundsUpdate}
import io.eventtide.spark.spi.{LaggingKeys, NextTimer}
import io.eventtide.spark.state.{FrameStore, WatermarkGroupStore}

/** The groups of keys of one partition, each with one watermark, in input order.
  *
  * The rows of a group are contiguous. Their lateness depends on the group's watermark before the
  * batch. After the last row of the group the watermark advances, and the keys whose timers fire
  * are processed; keys with rows are processed a second time.
  *
  *   - '''Edges:''' a group without rows on time is processed if its watermark advances with
  *     processing time; then all groups are read in each batch. A window that is updated and closed
  *     in one batch emits an early result and a result on time.
  *   - '''Real-time mode:''' a group's watermark advances after each of its rows, and when the clock
  *     closes its next window.
  */
private[window] final class SharedWatermarkGroups private (
    task: WindowTaskSpec,
    batch: BatchTime,
    policy: PolicySpec,
    groups: WatermarkGroupStore,
    bounds: PartitionBoundsUpdate,
    lagging: Option[LaggingKeys]
) extends Iterator[UnsafeRow] {

  /** The watermark of the current group, for its keys. */
  val time = new SharedWatermark

  private val own = task.spec.timeBy(policy, batch)
  private val ended = new KeyIdBitmap
  private val noKeys = new KeyIdBitmap
  private var hasRows = false // whether the current group has rows on time and has not ended
  private var expired: DueKeyIterator = _ // null until a group has ended
  private var others: StateStoreIterator[UnsafeRowPair] = _ // null while there are input rows
  private var firstDue = NextTimer.Never
  private val deadlines = Option.when(task.isRealTime && policy.movesWithClock)(new GroupDeadlines)

  /** The first time at which a window closes by a watermark that advances with processing time, in
    * microseconds.
    */
  def deadline: Long = deadlines.fold(firstDue)(_.first)

  /** Selects the group of a key. */
  def select(key: UnsafeRow): Unit = if (!groups.hasKey(key)) {
    leave()
    begin(groups.openOf(key))
  }

  private def begin(isKnown: Boolean): Unit = {
    if (isKnown) groups.read(own.read) else own.begin()
    // Also if the watermark has not advanced: a policy with new options may have another bound, or
    // no bound is known.
    own.watermark.foreach(bounds.raise(groups.key, _))
    time.set(own.watermark, own.watermark)
  }

  /** The highest time of the current group before the batch, as `KeyWatermark.reached`. */
  def reached: Long = own.reached

  /** Rows of the current group with these times were on time. */
  def accept(lowest: Long, highest: Long): Unit = {
    hasRows = true
    own.accept(lowest, highest)
  }

  /** Rows of these times were late. */
  def refuse(lowest: Long, highest: Long): Unit = if (policy.usesLate) accept(lowest, highest)

  /** Whether a timer fires for a key of a group whose rows have all arrived.
    *
    * @param upcoming
    *   the key of the next row; null at the end of the input
    */
  def hasExpiredTimer(upcoming: UnsafeRow): Boolean = {
    if (hasRows && (upcoming == null || !groups.hasKey(upcoming))) end()
    if (upcoming == null && policy.movesWithClock && deadlines.isEmpty)
      while (!hasNext && selectOther()) end()
    hasNext
  }

  /** Ends the current group after a row. In real-time mode, the next row may take minutes. */
  def endRow(): Unit = if (hasRows) {
    end()
    keepDeadline()
  }

  /** Reads the deadlines of all groups, at the start of a batch in real-time mode. */
  def readDeadlines(): Unit = if (deadlines.isDefined) {
    while (selectOther()) keepDeadline()
    others.close()
  }

  /** Advances the groups whose next window the clock closes, up to the first with an expired timer. */
  def advanceByClock(): Unit = deadlines.foreach { all =>
    while (!hasNext && all.first <= batch.now) {
      leave()
      begin(groups.open(all.group))
      groups.index.beginAtHead()
      if (own.dueAt(groups.index.lowest) <= batch.now) end()
      keepDeadline()
    }
  }

  // The index has no key before `lowest`, so the deadline may be too early, and is never too late.
  private def keepDeadline(): Unit = deadlines.foreach { all =>
    val end = groups.index.lowest
    all.set(groups.key, if (end == NextTimer.Never) NextTimer.Never else own.dueAt(end))
  }

  /** The next row of the group is judged by the watermark that the rows before have raised. */
  def beginRow(): Unit = if (groups.key != null) time.set(own.watermark, own.watermark)

  def hasNext: Boolean = {
    val found = expired != null && expired.hasNext
    if (!found && task.isRealTime) endClosing()
    found
  }

  // So that the rows up to the next window to close do not read the index.
  private def endClosing(): Unit = if (expired != null) {
    expired.close()
    expired = null
    groups.index.beginAtHead()
  }

  /** The next key whose timer fires. */
  def next(): UnsafeRow = expired.next()

  private def end(): Unit = {
    hasRows = false
    val before = own.watermark
    own.advance(batch.now)
    own.watermark.foreach(bounds.raise(groups.key, _))
    groups.change()
    time.set(before, own.watermark)
    if (!task.isRealTime) ended.add(groups.id)
    close()
    own.watermark.filter(_ >= groups.index.lowest).foreach(closeUpTo)
  }

  private def closeUpTo(watermark: Long): Unit = {
    expired = new DueKeyIterator(groups.index, watermark, noKeys)
    expired.hasNext: Unit // takes the snapshot of the index
    groups.index.beginAt(watermark + 1)
  }

  /** Selects an unprocessed group; false if there is none. */
  private def selectOther(): Boolean = {
    if (others == null) others = groups.all
    var found = false
    while (!found && others.hasNext) {
      leave()
      begin(groups.open(others.next().key.copy()))
      found = !ended.contains(groups.id)
    }
    found
  }

  // In real-time mode, each change of group leaves one, and `lowest` is close: no read is needed.
  private def firstEnd: Long = if (task.isRealTime) groups.index.lowest else groups.index.head

  private def leave(): Unit = {
    groups.save(own.write)
    if (groups.key != null) lagging.foreach(_.offer(groups.key, own.watermark, firstEnd))
    if (policy.movesWithClock && deadlines.isEmpty && ended.contains(groups.id)) {
      val end = groups.index.head
      if (end != NextTimer.Never) firstDue = math.min(firstDue, own.dueAt(end))
    }
  }

  private def close(): Unit = if (expired != null) expired.close()

  /** Called when all keys have been processed. */
  def finish(): Unit = {
    if (bounds.wantAll) while (selectOther()) ()
    leave()
    lagging.toSeq.flatMap(_.unseen).foreach { known =>
      begin(groups.open(known))
      leave()
    }
    close()
    if (others != null) others.close()
  }
}

private[window] object SharedWatermarkGroups {

  /** The groups of a partition; None if keys do not share watermarks in groups. */
  def apply(
      task: WindowTaskSpec,
      state: FrameStore,
      bounds: PartitionBoundsUpdate,
      lagging: Option[LaggingKeys] = None
  ): Option[SharedWatermarkGroups] =
    for {
      policy <- task.spec.settings.byKey.flatMap(_.policy)
      groups <- state.groups
    } yield new SharedWatermarkGroups(task, task.batch, policy, groups, bounds, lagging)
}
