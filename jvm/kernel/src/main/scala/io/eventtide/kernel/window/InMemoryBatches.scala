package io.eventtide.kernel.window

import scala.collection.immutable.ArraySeq
import scala.collection.mutable

import io.eventtide.kernel.time.Clamped
import io.eventtide.kernel.watermark.PolicySpec

/** How the watermarks of keys move, and when keys emit results.
  *
  * @param policy policy of each watermark
  * @param group function from a key to its group, whose keys share a watermark; None if each key
  *   has a separate watermark
  * @param maxRowsPerStep maximum number of rows of a key per step; later rows count as another
  *   batch
  * @param discarding the buffers, if a result has only the rows since the last result
  */
final case class KeyRules[K](
    policy: PolicySpec,
    group: Option[K => Any],
    idleness: KeyIdleness,
    triggers: Seq[Trigger] = Seq(Trigger.AtEnd),
    maxRowsPerStep: Int = Int.MaxValue,
    discarding: Option[Buffers] = None
)

object KeyRules {

  /** Puts all keys in one group. */
  val Together: Option[Any => Any] = Some(_ => ())
}

/** The windows of several keys in memory, batch by batch: the behaviour of a query, without Spark.
  *
  *   - '''Guarantee:''' as in `AggregatingWindows`. A watermark over several keys is computed at the end
  *     of a batch and applied before the next batch.
  *   - '''Units:''' event times and the clock have the same unit.
  *   - '''Restart:''' between batches, a key is kept only as its record.
  */
final class InMemoryBatches[K](
    rules: KeyRules[K],
    windows: WindowSet,
    holds: Int => Boolean = _ => true
) {
  import InMemoryBatches._

  private val shared = new SharedWatermark
  private val own = new PerKeyWatermark(rules.policy, credited = true)
  private val key = new AggregatingWindows(
    windows,
    if (rules.group.isDefined) shared else own,
    rules.idleness,
    rules.triggers,
    rules.discarding,
    holds
  )
  private val overall = new PerKeyWatermark(rules.policy, credited = true)
  private val groups = mutable.HashMap.empty[Any, Group]
  private val records = mutable.LinkedHashMap.empty[K, ArraySeq[Byte]]
  private val sink = new ByteSink
  private val source = new ByteSource

  /** Processes the rows of a batch; returns the late rows.
    *
    * @param give callback for each result, called while its buffer is valid
    */
  def batch(now: Long, rows: Seq[Row[K]])(give: Pane[K] => Unit): Seq[Row[K]] = {
    val late = rows.groupBy(_.key).toSeq.flatMap { case (of, mine) =>
      turn(of, now, give, mine)
    }
    settle(now, give)
    rows.filter(late.contains)
  }

  private def take(row: Row[K], now: Long): Boolean =
    if (row.hasTime) judge(row, now)
    else {
      key.addWithoutTime(now, row.buffer)
      true
    }

  private def judge(row: Row[K], now: Long): Boolean = {
    val onTime = row.gap match {
      case Some(gap) => key.add(row.ts, gap, now, row.buffer)
      case None => key.add(row.ts, row.highest, row.count, now, row.buffer)
    }
    for (time <- groupOf(row.key).map(_.time) ++ Some(overall))
      if (onTime) time.accept(row.ts, row.highest) else time.refuse(row.ts, row.highest)
    onTime
  }

  /** Advances the clock without rows. */
  def tick(now: Long)(give: Pane[K] => Unit): Unit = settle(now, give)

  private def settle(now: Long, give: Pane[K] => Unit): Unit = {
    overall.advance(now)
    groups.values.foreach(_.time.advance(now))
    records.keys.toSeq.foreach(turn(_, now, give, Nil))
    groups.values.foreach(_.settle())
  }

  private def groupOf(of: K): Option[Group] =
    rules.group.map(name => groups.getOrElseUpdate(name(of), new Group(rules.policy)))

  private def turn(of: K, now: Long, give: Pane[K] => Unit, rows: Seq[Row[K]]): Seq[Row[K]] = {
    groupOf(of).foreach(group => shared.set(group.before, group.time.watermark))
    records.get(of) match {
      case None => key.begin()
      case Some(bytes) => read(bytes)
    }
    val (first, others) = rows.splitAt(rules.maxRowsPerStep)
    val late = close(of, now, give, first) ++ others.grouped(rules.maxRowsPerStep).flatMap { more =>
      key.beginBatch()
      close(of, now, give, more)
    }
    if (key.isDone) records -= of else records(of) = saved
    late
  }

  private def close(of: K, now: Long, give: Pane[K] => Unit, rows: Seq[Row[K]]): Seq[Row[K]] = {
    val late = judged(now, rows)
    key.close(now, overall.watermark)
    while (key.next()) give(pane(of))
    late
  }

  private def saved: ArraySeq[Byte] = {
    sink.reset(0)
    key.write(sink)
    ArraySeq.unsafeWrapArray(sink.bytes.take(sink.position))
  }

  /** Adds rows; returns the late rows. */
  private def judged(now: Long, rows: Seq[Row[K]]): Seq[Row[K]] = {
    val late = rows.filterNot(take(_, now))
    if (key.judgesTogether) late.sortBy(_.until)(Ordering.Long.reverse).filterNot(take(_, now))
    else late
  }

  /** Emits each open window once; the state of the keys does not change. */
  def open(give: Pane[K] => Unit): Unit = records.foreach { case (of, bytes) =>
    groupOf(of).foreach(group => shared.set(group.before, group.before))
    read(bytes)
    key.showAll()
    while (key.next()) give(pane(of))
  }

  /** The watermark of a key with state. */
  def watermark(of: K): Option[Long] =
    if (rules.group.isDefined) groupOf(of).flatMap(_.before)
    else
      records.get(of).flatMap { bytes =>
        read(bytes)
        key.watermark
      }

  /** The keys with state. */
  def keys: Iterable[K] = records.keys

  private def read(bytes: ArraySeq[Byte]): Unit = {
    source.reset(bytes.toArray, 0)
    key.read(source)
  }

  private def pane(of: K): Pane[K] =
    Pane(of, key.start, key.end, key.timing, key.trigger, key.index, key.isLast, key.result)
}

object InMemoryBatches {

  /** The watermark of a group of keys: before the batch, and after the batch's rows. */
  private final class Group(policy: PolicySpec) {
    val time = new PerKeyWatermark(policy, credited = true)
    var before = Option.empty[Long]

    def settle(): Unit = before = time.watermark
  }

  /** A row, or several rows of one frame that are combined in a buffer.
    *
    * @param ts lowest time of the rows
    * @param highest highest time of the rows
    * @param count number of rows
    * @param hasTime whether the rows have a time; without one, only windows that ignore time are
    *   valid
    * @param gap the gap of this row, for sessions with a gap for each row
    */
  final case class Row[K](
      key: K,
      ts: Long,
      highest: Long,
      count: Long,
      buffer: Int,
      hasTime: Boolean = true,
      gap: Option[Long] = None
  ) {

    /** The end of the time that the row covers, without a gap that is the same for all rows. */
    private[InMemoryBatches] def until: Long = gap.fold(ts)(Clamped.add(ts, _))
  }

  object Row {
    def apply[K](key: K, ts: Long, buffer: Int): Row[K] = Row(key, ts, ts, 1, buffer)

    def withGap[K](key: K, ts: Long, gap: Long, buffer: Int): Row[K] =
      Row(key, ts, ts, 1, buffer, gap = Some(gap))

    def withoutTime[K](key: K, buffer: Int): Row[K] = Row(key, 0, 0, 1, buffer, hasTime = false)
  }

  /** A result, whose rows are in `buffer`.
    *
    * @param trigger position of the trigger that fired
    * @param index number of earlier results of the window
    */
  final case class Pane[K](
      key: K,
      start: Long,
      end: Long,
      timing: PaneTiming,
      trigger: Int,
      index: Int,
      isLast: Boolean,
      buffer: Int
  )
}
