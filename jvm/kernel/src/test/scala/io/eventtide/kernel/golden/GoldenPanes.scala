package io.eventtide.kernel.golden

import scala.collection.mutable

import io.eventtide.kernel.window._

/** The windows of many keys under one watermark, over rows that are remembered. A batch is what comes
  * between two calls.
  */
final class GoldenPanes(
    newWindows: Buffers => WindowSet,
    triggers: Seq[Trigger] = Seq(Trigger.AtEnd),
    discards: Boolean = false,
    gapOf: GoldenArgs => Option[Long] = _ => None
) {
  private val buffers = new ObjectBufferPool
  private val rows = mutable.Buffer.empty[GoldenArgs]
  private val keys = mutable.LinkedHashMap.empty[String, AggregatingWindows]
  private val time = new SharedWatermark
  private var watermark = Option.empty[Long]

  /** What a row gives at once, or None when it is late. */
  def observe(key: String, ts: Long, row: GoldenArgs): Option[List[GoldenPane]] = {
    val (panes, late) = batch(key, Seq(ts -> row))
    Option.when(late.isEmpty)(panes)
  }

  /** What rows give together, and those of them that are late. */
  def batch(
      key: String,
      some: Seq[(Long, GoldenArgs)]
  ): (List[GoldenPane], Seq[(Long, GoldenArgs)]) = {
    val own = keys.getOrElseUpdate(key, begun())
    val late = some.filterNot { case (ts, row) =>
      rows += row
      val buffer = buffers.of(rows.length - 1)
      gapOf(row).fold(own.add(ts, now = 0, buffer))(own.add(ts, _, now = 0, buffer))
    }
    (emitted(key, own), late)
  }

  def advance(at: Long): List[GoldenPane] = {
    val before = watermark
    watermark = (watermark ++ Some(at)).maxOption
    time.set(before, watermark)
    val panes = all(emitted)
    time.set(watermark, watermark)
    keys.values.foreach(_.beginBatch())
    keys.filterInPlace((_, own) => !own.isDone)
    panes
  }

  /** No more rows come: what is open gives its last pane. */
  def finish(): List[GoldenPane] = all { (key, own) =>
    own.close(now = 0, None)
    own.closeAll()
    panes(key, own)
  }.sortBy(_.end)

  def restart(): Unit = keys.mapValuesInPlace((_, own) => copyOf(own)): Unit

  /** What is open, which stays so. */
  def open: List[GoldenPane] = all { (key, own) =>
    val copy = copyOf(own)
    copy.close(now = 0, None)
    copy.showAll()
    panes(key, copy)
  }

  private def all(give: (String, AggregatingWindows) => List[GoldenPane]): List[GoldenPane] =
    keys.toList.flatMap { case (key, own) => give(key, own) }

  private def emitted(key: String, own: AggregatingWindows): List[GoldenPane] = {
    own.close(now = 0, None)
    val all = panes(key, own)
    own.beginBatch()
    all
  }

  private def panes(key: String, own: AggregatingWindows): List[GoldenPane] =
    Iterator
      .continually(own.next())
      .takeWhile(identity)
      .map { _ =>
        val inside = buffers(own.result).sorted.map(rows(_)).toList
        GoldenPane(key, own.start, own.end, inside, own.timing, own.index, own.isLast)
      }
      .toList

  private def begun(): AggregatingWindows = {
    val made = fresh()
    made.begin()
    made
  }

  private def copyOf(before: AggregatingWindows): AggregatingWindows = {
    val sink = new ByteSink
    before.write(sink)
    val source = new ByteSource
    source.reset(sink.bytes, 0)
    val after = fresh()
    after.read(source)
    after
  }

  private def fresh() = new AggregatingWindows(
    newWindows(buffers),
    time,
    KeyIdleness(None, ttl = 0),
    triggers,
    Option.when(discards)(buffers)
  )
}

object GoldenPanes {

  /** @param gapOf a row's own gap; None where all rows have that of `spec` */
  def ofSessions(
      spec: SessionSpec,
      lateness: Long = 0,
      discards: Boolean = false,
      gapOf: GoldenArgs => Option[Long] = _ => None
  ): GoldenPanes =
    new GoldenPanes(
      new Sessions(lenient(spec, lateness), _, lateness),
      discards = discards,
      gapOf = gapOf
    )

  def ofFrames(
      spec: WindowSpec,
      deducts: Boolean,
      lateness: Long,
      triggers: Seq[Trigger],
      discards: Boolean
  ): GoldenPanes = {
    val all = spec.copy(delay = spec.delay + lateness)
    def windows(buffers: Buffers): WindowSet = new FrameWindows(
      all,
      buffers,
      GoldenWindows.state(spec.shape, buffers, deducts) _,
      lateness = lateness
    )
    new GoldenPanes(windows(_), triggers, discards)
  }

  private def lenient(spec: SessionSpec, lateness: Long) = spec.copy(delay = spec.delay + lateness)
}
