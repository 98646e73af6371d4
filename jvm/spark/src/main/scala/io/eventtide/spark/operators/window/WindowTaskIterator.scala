package io.eventtide.spark.operators.window

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreIterator,
  UnsafeRowPair
}

import io.eventtide.kernel.RecordTooLarge
import io.eventtide.spark.EventtideException
import io.eventtide.spark.operators.{LookaheadIterator, WindowOperatorSpec}
import io.eventtide.spark.spi.{LaggingKey, LaggingKeys, NextTimer, SubstreamName}

/** Works through one partition, a key at a time, and gives the rows of what is due.
  *
  * First the keys that have rows, which come sorted: each takes them in, gives what is due, and is
  * saved. Where a group of keys has one watermark, it moves when all rows of the group are here, and
  * keys that it closes windows of have their turn. Then those that only owe results, which the indexes
  * name; nobody looks for them when all keys with state have had rows. The state is committed when
  * the last row has been taken.
  */
private[window] final class WindowTaskIterator(
    task: WindowTaskSpec,
    store: StateStore,
    input: Iterator[InternalRow],
    metrics: WindowMetrics
) extends LookaheadIterator[InternalRow] {
  private val state = task.open(store)
  private val calls = task.plan.newCalls
  private val buffers = task.plan.newBuffers(calls)
  private val bounds = task.openBounds(store.id.partitionId, state)
  private val lagging = Option.when(task.plan.settings.hasOwnTime) {
    new LaggingKeys(task.plan.together, task.lagging.getOrElse(store.id.partitionId, Nil))
  }
  private val groups = SharedWatermarkGroups(task, state, bounds, lagging)
  private val windows = KeyedWindowOperator(task, state, calls, buffers, groups)
  private val rows = task.read(input, calls)
  private val seen = new KeyIdBitmap
  private val due = new DueKeyIterator(state.byEnd, task.closing, seen)
  private val closesAll = task.closesAll || state.timingChanged
  // All keys, in the first batch of a run, where it is not known what they are due by, or which bounds
  // they have; those of groups are seen to by `groups`. And in the last batch of all.
  private val visitsAll =
    state.keyCount > 0 && (closesAll || bounds.wantAll && groups.isEmpty)
  private val others =
    if (visitsAll) state.allKeys else new StateStoreIterator[UnsafeRowPair](Iterator.empty)
  private val overdue = new DueKeyIterator(state.byClock, task.nowMicros, seen)

  private val remembers = task.closes || task.hasDeadlines || visitsAll
  private val raisesBounds = task.plan.settings.hasOwnTime && groups.isEmpty
  private val counts = new WindowCounts

  private var key: UnsafeRow = _ // whose results are being given; null between keys
  private var found = false
  private var done = 0L // keys that have had their turn, and have state
  private var committed = false

  protected def current: InternalRow = {
    counts.results += 1
    windows.row(key)
  }

  protected def advance(): Boolean = {
    found = false
    while (!found && !committed) WindowTaskIterator.namingKey(task.plan, key)(step())
    found
  }

  private def step(): Unit =
    if (key != null) {
      found = windows.next()
      if (!found) { if (rows.isSameKey) takeMore() else leaveKey() }
    } else if (groups.isDefined && groups.get.owes(rows.upcoming)) takeKey(groups.get.next())
    else if (rows.hasNext) takeRows()
    else if (task.closes && isKeyLeft && due.hasNext) takeKey(due.next())
    else if (task.hasDeadlines && isKeyLeft && overdue.hasNext) takeKey(overdue.next())
    else if (others.hasNext) takeOther(others.next())
    else commit()

  /** Whether a key with state has had no turn, or it is not known. */
  private def isKeyLeft: Boolean = groups.isDefined || done < state.keyCount

  private def takeRows(): Unit = {
    openKey(rows.nextKey())
    if (remembers) seen.add(state.keyId)
    addRows()
  }

  private def takeMore(): Unit = {
    windows.again()
    addRows()
  }

  private def addRows(): Unit = {
    var left = if (task.closesAll) Int.MaxValue else windows.maxRowsPerStep
    while (left > 0 && rows.isSameKey) {
      windows.add(rows)
      rows.advance()
      left -= 1
    }
    close()
  }

  private def takeKey(owing: UnsafeRow): Unit = {
    openKey(owing)
    if (remembers) seen.add(state.keyId)
    close()
  }

  // The last ones of a batch: nobody asks afterwards whether they have been seen.
  private def takeOther(other: UnsafeRowPair): Unit =
    if (!seen.contains(state.idOf(other.value))) {
      openKey(other.key.copy())
      if (closesAll) close() else leaveAsRead()
    }

  private def leaveAsRead(): Unit = {
    raiseBound()
    compare()
    key = null
  }

  private def close(): Unit = {
    windows.close()
    raiseBound()
  }

  private def raiseBound(): Unit =
    if (raisesBounds) windows.watermark.foreach(bounds.raise(key, _))

  private def openKey(opened: UnsafeRow): Unit = {
    key = opened
    buffers.reset()
    groups.foreach(_.select(key))
    if (state.open(key)) state.read(in => windows.read(in)) else windows.begin()
  }

  private def leaveKey(): Unit = {
    windows.settle()
    if (windows.isEmpty) {
      if (state.drop()) counts.removed += 1
    } else {
      if (!canSkipWrite) save()
      done += 1
    }
    compare()
    key = null
  }

  private def canSkipWrite: Boolean =
    windows.hasOnlyClosed && state.canSkipWrite(windows.due, task.closing)

  private def save(): Unit = {
    state.save(windows.due, task.closing, windows.deadline, windows.dueInGroup)(out =>
      windows.write(out)
    )
    counts.updated += 1
  }

  private def compare(): Unit =
    if (groups.isEmpty) lagging.foreach(_.offer(key, windows.watermark, windows.closesAt))

  // Those that had no turn may have been forgotten, but are as they were if they have not.
  private def lookAtLagging(): Unit = lagging.filter(_ => groups.isEmpty).foreach { keys =>
    keys.unseen.foreach { known =>
      buffers.reset()
      if (state.open(known)) {
        state.read(in => windows.read(in))
        keys.offer(known, windows.watermark, windows.closesAt)
      }
    }
  }

  private def commit(): Unit = {
    lookAtLagging()
    due.close()
    overdue.close()
    others.close()
    groups.foreach(_.finish())
    val facts = state.finish(task.closing, bounds.highest)
    val end = nextEnd(if (task.keyed.isDefined) facts.ends.first else facts.byEnd)
    val ofKeys = facts.deadlines.firstAfter(task.nowMicros)
    val byClock = groups.fold(ofKeys)(groups => math.min(ofKeys, groups.deadline))
    val deadline = if (task.hasDeadlines) byClock else NextTimer.Never
    val next = NextTimer(end, deadline, facts.keys, lagging.fold(Seq.empty[LaggingKey])(_.result))
    metrics.commit(store, counts, next, bounds.report)
    committed = true
  }

  // A key that is always active owes a result at each boundary, however old its entry; and what counts
  // together with an end that has passed is behind that.
  private def nextEnd(first: Long): Long =
    if (first == NextTimer.Never) NextTimer.Never else math.max(first, task.closing + 1)
}

private[window] object WindowTaskIterator {

  /** Does the work of the key that is at hand when it fails; one that is too large is named. */
  def namingKey(plan: WindowOperatorSpec, key: => UnsafeRow)(work: => Unit): Unit =
    try work
    catch {
      case large: RecordTooLarge =>
        val types = plan.keys.map(_.dataType)
        val name = if (types.isEmpty) "none" else SubstreamName.of(types)(key.toSeq(types))
        throw EventtideException("KEY_TOO_LARGE", "key" -> name, "limit" -> large.limit)
    }
}
