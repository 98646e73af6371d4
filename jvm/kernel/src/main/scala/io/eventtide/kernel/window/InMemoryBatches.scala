package io.eventtide.kernel.window

import scala.collection.immutable.ArraySeq
import scala.collection.mutable

import io.eventtide.kernel.watermark.PolicySpec

/** Which time keys have, and when they give results.
  *
  * @param policy what moves a watermark
  * @param group keys of which it says the same have one watermark; None where each has its own
  * @param maxRowsPerStep of so many rows of a key, those after them count as of another batch
  */
final case class KeyRules[K](
    policy: PolicySpec,
    group: Option[K => Any],
    silence: KeyIdleness,
    triggers: Seq[Trigger] = Seq(Trigger.AtEnd),
    maxRowsPerStep: Int = Int.MaxValue
)

object KeyRules {

  /** All keys are in one group. */
  val Together: Option[Any => Any] = Some(_ => ())
}

/** The windows of many keys in memory, batch after batch: what a query does, without Spark.
  *
  *   - '''Guarantee:''' as of `TimedWindows`. What holds over several keys is known when a batch has
  *     ended, and is applied before the next one.
  *   - '''Units:''' times and clock in one unit.
  *   - '''Restart:''' keys are kept as their records, and nothing else of them between batches.
  */
final class InMemoryBatches[K](
    rules: KeyRules[K],
    newWindows: () => WindowSet,
    holds: Int => Boolean = _ => true
) {
  import InMemoryBatches._

  private val shared = new SharedWatermark
  private val own = new PerKeyWatermark(rules.policy, credited = true)
  private val key = new TimedWindows(
    newWindows(),
    if (rules.group.isDefined) shared else own,
    rules.silence,
    rules.triggers,
    Some(newWindows()),
    holds
  )
  private val overall = new PerKeyWatermark(rules.policy, credited = true)
  private val groups = mutable.HashMap.empty[Any, Group]
  private val records = mutable.LinkedHashMap.empty[K, ArraySeq[Byte]]
  private val sink = new ByteSink
  private val source = new ByteSource

  /** Takes the rows of a batch; answers those that are late.
    *
    * @param give is shown each result while its buffer is good
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
    val onTime = key.add(row.ts, row.highest, row.count, now, row.buffer)
    for (time <- groupOf(row.key).map(_.time) ++ Some(overall))
      if (onTime) time.accept(row.ts, row.highest) else time.refuse(row.ts, row.highest)
    onTime
  }

  /** The clock moves, and there are no rows. */
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
      key.again()
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

  /** Takes rows, and answers those that are late. */
  private def judged(now: Long, rows: Seq[Row[K]]): Seq[Row[K]] = {
    val late = rows.filterNot(take(_, now))
    if (key.judgesTogether) late.sortBy(_.ts)(Ordering.Long.reverse).filterNot(take(_, now))
    else late
  }

  /** What is open, each window once; keys hold it as before. */
  def open(give: Pane[K] => Unit): Unit = records.foreach { case (of, bytes) =>
    read(bytes)
    key.showAll()
    while (key.next()) give(pane(of))
  }

  /** The watermark of a key that has state. */
  def watermark(of: K): Option[Long] =
    if (rules.group.isDefined) groupOf(of).flatMap(_.before)
    else
      records.get(of).flatMap { bytes =>
        read(bytes)
        key.watermark
      }

  /** The keys that have state. */
  def keys: Iterable[K] = records.keys

  private def read(bytes: ArraySeq[Byte]): Unit = {
    source.reset(bytes.toArray, 0)
    key.read(source)
  }

  private def pane(of: K): Pane[K] =
    Pane(of, key.start, key.end, key.timing, key.trigger, key.index, key.isLast, key.result)
}

object InMemoryBatches {

  /** A watermark that several keys have: before the batch, and as its rows move it. */
  private final class Group(policy: PolicySpec) {
    val time = new PerKeyWatermark(policy, credited = true)
    var before = Option.empty[Long]

    def settle(): Unit = before = time.watermark
  }

  /** A row, or rows of one frame that are together in a buffer.
    *
    * @param ts the lowest of their times
    * @param highest of their times
    * @param count how many they are
    * @param hasTime whether they have one, without which they are only for windows that need none
    */
  final case class Row[K](
      key: K,
      ts: Long,
      highest: Long,
      count: Long,
      buffer: Int,
      hasTime: Boolean = true
  )

  object Row {
    def apply[K](key: K, ts: Long, buffer: Int): Row[K] = Row(key, ts, ts, 1, buffer)

    def withoutTime[K](key: K, buffer: Int): Row[K] = Row(key, 0, 0, 1, buffer, hasTime = false)
  }

  /** A result, whose rows are in `buffer`.
    *
    * @param trigger which of them has given it
    * @param index how many results its window has given before
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
