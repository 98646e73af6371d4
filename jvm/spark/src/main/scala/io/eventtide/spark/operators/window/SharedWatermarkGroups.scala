package io.eventtide.spark.operators.window

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{StateStoreIterator, UnsafeRowPair}

import io.eventtide.kernel.watermark.PolicySpec
import io.eventtide.kernel.window.SharedWatermark
import io.eventtide.spark.operators.{BatchTime, PartitionBoundsUpdate}
import io.eventtide.spark.spi.{LaggingKeys, NextTimer}
import io.eventtide.spark.state.{FrameStore, WatermarkGroupStore}

/** The groups of keys of one partition, each with one watermark, in the order of the rows.
  *
  * The rows of a group come together. Rows are judged by what its watermark was before the batch; when
  * all are here it moves, and the keys that are due by it have their turn, those with rows once more.
  *
  *   - '''Edges:''' a group without rows that are not late has its turn where its watermark goes by the
  *     clock, for which all groups are read in each batch. A window that is updated and closed in one
  *     batch gives an early result and one on time.
  */
private[window] final class SharedWatermarkGroups private (
    task: WindowTaskSpec,
    batch: BatchTime,
    policy: PolicySpec,
    groups: WatermarkGroupStore,
    bounds: PartitionBoundsUpdate,
    lagging: Option[LaggingKeys]
) extends Iterator[UnsafeRow] {

  /** The watermark of the group at hand, for its keys. */
  val time = new SharedWatermark

  private val own = task.plan.timeBy(policy, batch)
  private val ended = new KeyIdBitmap
  private val nobody = new KeyIdBitmap
  private var hasRows = false // of the group at hand, which has not ended
  private var owing: DueKeyIterator = _ // null when no group has ended
  private var others: StateStoreIterator[UnsafeRowPair] = _ // null while rows come
  private var firstDue = NextTimer.Never

  /** The first time at which a window is due by a watermark that goes by the clock, in microseconds. */
  def deadline: Long = firstDue

  /** Turns to the group of a key. */
  def select(key: UnsafeRow): Unit = if (!groups.hasKey(key)) {
    leave()
    begin(groups.openOf(key))
  }

  private def begin(isKnown: Boolean): Unit = {
    if (isKnown) groups.read(own.read) else own.begin()
    // Also where it has not moved: a policy with other numbers may have another, or none is known.
    own.watermark.foreach(bounds.raise(groups.key, _))
    time.set(own.watermark, own.watermark)
  }

  /** Rows of the group at hand, of these times, were not late. */
  def accept(lowest: Long, highest: Long): Unit = {
    hasRows = true
    own.accept(lowest, highest)
  }

  /** Rows of these times were late. */
  def refuse(lowest: Long, highest: Long): Unit = if (policy.usesLate) accept(lowest, highest)

  /** Whether a key of a group of which all rows are here owes a result by its watermark.
    *
    * @param upcoming
    *   the key of the next row; null when there is none
    */
  def owes(upcoming: UnsafeRow): Boolean = {
    if (hasRows && (upcoming == null || !groups.hasKey(upcoming))) end()
    if (upcoming == null && policy.movesWithClock) while (!hasNext && turnToOther()) end()
    hasNext
  }

  def hasNext: Boolean = owing != null && owing.hasNext

  /** The key that owes it. */
  def next(): UnsafeRow = owing.next()

  private def end(): Unit = {
    hasRows = false
    val before = own.watermark
    own.advance(batch.now)
    own.watermark.foreach(bounds.raise(groups.key, _))
    groups.change()
    time.set(before, own.watermark)
    ended.add(groups.id)
    close()
    own.watermark.filter(_ >= groups.index.lowest).foreach(closeUpTo)
  }

  private def closeUpTo(watermark: Long): Unit = {
    owing = new DueKeyIterator(groups.index, watermark, nobody)
    owing.hasNext: Unit // which reads the index as it is now
    groups.index.beginAt(watermark + 1)
  }

  /** Turns to a group that had no turn; false when there is none. */
  private def turnToOther(): Boolean = {
    if (others == null) others = groups.all
    var found = false
    while (!found && others.hasNext) {
      leave()
      begin(groups.open(others.next().key.copy()))
      found = !ended.contains(groups.id)
    }
    found
  }

  private def leave(): Unit = {
    groups.save(own.write)
    if (groups.key != null) lagging.foreach(_.offer(groups.key, own.watermark, groups.index.head))
    if (policy.movesWithClock && ended.contains(groups.id)) {
      val end = groups.index.head
      if (end != NextTimer.Never) firstDue = math.min(firstDue, own.dueAt(end))
    }
  }

  private def close(): Unit = if (owing != null) owing.close()

  /** All keys have had their turn. */
  def finish(): Unit = {
    if (bounds.wantAll) while (turnToOther()) ()
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

  /** Those of a partition; None where keys have no watermark in groups. */
  def apply(
      task: WindowTaskSpec,
      state: FrameStore,
      bounds: PartitionBoundsUpdate,
      lagging: Option[LaggingKeys] = None
  ): Option[SharedWatermarkGroups] =
    for {
      batch <- task.keyed
      policy <- task.plan.settings.byKey.flatMap(_.policy)
      groups <- state.groups
    } yield new SharedWatermarkGroups(task, batch, policy, groups, bounds, lagging)
}
