package io.eventtide.spark.operators.window

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreIterator,
  UnsafeRowPair
}

import io.eventtide.spark.operators.preagg.KeyedFrameReader
import io.eventtide.spark.spi.{LaggingKey, LaggingKeys, NextTimer, TaskInputState}
import io.eventtide.spark.state.{FrameStore, PartitionMeta}

/** Processes one partition, one key at a time, and emits the rows of windows whose timers fire.
  *
  * First come the keys with input rows, which are sorted. Each key adds its rows, emits its
  * results, and is saved. If a group of keys shares a watermark, it advances after the last row of
  * the group; then the group's keys with closing windows are processed.
  *
  * Then come the keys with timers but without input rows, from the indexes. This step is skipped if
  * all keys with state have had rows. The state is committed after the last row has been emitted.
  */
private[window] class StreamingWindowIterator(
    task: WindowTaskSpec,
    store: StateStore,
    input: Iterator[InternalRow],
    metrics: WindowMetrics
) extends KeyedWindowIterator(task.spec) {
  protected val state: FrameStore = task.open(store)
  private val calls = task.spec.newCalls
  private val buffers = task.spec.newBuffers(calls)
  private val bounds = task.openBounds(store.id.partitionId, state)
  private val lagging = Option.when(task.spec.settings.hasOwnTime) {
    new LaggingKeys(task.spec.together, task.lagging.getOrElse(store.id.partitionId, Nil))
  }
  protected val groups: Option[SharedWatermarkGroups] =
    SharedWatermarkGroups(task, state, bounds, lagging)
  new StateRewrite(task, store, state, calls, buffers).ifChanged(groups)
  protected val windows: KeyedWindowOperator = task.operator(state, calls, buffers, groups)
  protected val rows: KeyedFrameReader = KeyedFrameReader.of(task.spec, input, task.input, calls)
  private val seen = new KeyIdBitmap
  private val due = new DueKeyIterator(state.byEnd, task.closing, seen)
  private val closesAll = task.closesAll || state.timingChanged
  // All keys are visited in the first batch of a run, if the timing options have changed or the
  // keys' bounds are not known; `groups` visits the keys of groups for their bounds. They are also
  // visited in the batch that closes all windows.
  private val visitsAll =
    state.keyCount > 0 && (closesAll || bounds.wantAll && groups.isEmpty)
  protected val others: StateStoreIterator[UnsafeRowPair] =
    if (visitsAll) state.allKeys else new StateStoreIterator[UnsafeRowPair](Iterator.empty)
  private val overdue = new DueKeyIterator(state.byClock, task.batch.now, seen)

  private val remembers = task.closes || task.hasProcessingTimers || visitsAll
  private val raisesBounds = task.spec.settings.hasOwnTime && groups.isEmpty
  private val counts = new WindowCounts

  private var done = 0L // processed keys that have state

  override protected def current: InternalRow = {
    counts.results += 1
    super.current
  }

  protected def openNext(): Boolean = {
    var more = true
    if (groups.isDefined && groups.get.hasExpiredTimer(rows.upcoming)) openDue(groups.get.next())
    else if (rows.hasNext) openWithRows()
    else if (task.closes && isKeyLeft && due.hasNext) openDue(due.next())
    else if (task.visitsOverdue && isKeyLeft && overdue.hasNext) openDue(overdue.next())
    else if (others.hasNext) openOther(others.next())
    else more = false
    if (!more) commit()
    more
  }

  /** Whether some key with state may be unprocessed. */
  private def isKeyLeft: Boolean = groups.isDefined || done < state.keyCount

  protected final def openWithRows(): Unit = {
    openAndRemember(rows.nextKey())
    addRows()
  }

  protected def continueKey(): Boolean = {
    val more = rows.isSameKey
    if (more) {
      windows.beginStep()
      addRows()
    }
    more
  }

  private def addRows(): Unit = {
    addRows(rows, if (task.closesAll) Int.MaxValue else windows.maxRowsPerStep)
    raiseBound()
  }

  protected final def openDue(owing: UnsafeRow): Unit = {
    openAndRemember(owing)
    close()
  }

  private def openAndRemember(next: UnsafeRow): Unit = {
    open(next)
    if (remembers) seen.add(state.keyId)
  }

  // The last keys of a batch, so they need not be added to `seen`.
  protected final def openOther(other: UnsafeRowPair): Unit =
    if (!seen.contains(state.idOf(other.value))) {
      open(other.key.copy())
      if (closesAll) close() else leaveAsRead()
    }

  private def leaveAsRead(): Unit = {
    raiseBound()
    compare()
    deselect()
  }

  private def close(): Unit = {
    windows.close()
    raiseBound()
  }

  private def raiseBound(): Unit =
    if (raisesBounds) windows.watermark.foreach(bounds.raise(key, _))

  private def open(next: UnsafeRow): Unit = {
    select(next)
    buffers.reset()
    groups.foreach(_.select(key))
    if (state.open(key)) state.read(in => windows.read(in)) else windows.begin()
  }

  protected def leaveKey(): Unit = {
    windows.finishKey()
    if (windows.isEmpty) {
      if (state.drop()) counts.removed += 1
    } else {
      if (!canSkipWrite) save()
      done += 1
    }
    compare()
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

  // Unprocessed keys may have been removed, but are unchanged if they exist.
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
    val next = nextTimer(state.finish(task.closing, bounds.highest))
    inputState.foreach(metrics.report(store.id.partitionId, _))
    metrics.commit(store, counts, next, bounds.report)
  }

  /** The state of the query's policies, if they run in the task. */
  protected def inputState: Option[TaskInputState] = None

  /** Reports the counts and the next timers while the task runs. */
  protected final def reportSoFar(): Unit = {
    windows.reportSoFar()
    inputState.foreach(metrics.report(store.id.partitionId, _))
    val next = nextTimer(state.metadata(task.closing, bounds.highest))
    metrics.report(store.id.partitionId, counts, next)
  }

  private def nextTimer(metadata: PartitionMeta): NextTimer = {
    val first =
      if (task.spec.settings.hasFrameTimers) metadata.byEnd else metadata.eventTimers.first
    val ofKeys = metadata.processingTimers.firstAfter(task.batch.now)
    val byClock = groups.fold(ofKeys)(groups => math.min(ofKeys, groups.deadline))
    val deadline = if (task.hasProcessingTimers) byClock else NextTimer.Never
    val behind = lagging.fold(Seq.empty[LaggingKey])(_.result)
    NextTimer(nextEnd(first), deadline, metadata.keys, behind)
  }

  // A key that is always active has a timer at each boundary, even if its entry is old. A past end
  // represents later ends that are counted together with it.
  private def nextEnd(first: Long): Long =
    if (first == NextTimer.Never) NextTimer.Never else math.max(first, task.closing + 1)
}
