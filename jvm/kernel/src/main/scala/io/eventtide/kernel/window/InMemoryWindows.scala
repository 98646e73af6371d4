package io.eventtide.kernel.window

import scala.collection.immutable.ArraySeq
import scala.collection.mutable

import io.eventtide.kernel.InvalidArgument

/** The windows of many keys in memory: the plainest engine, which others are held against.
  *
  * Watermarks are given for all keys or for one; what counts for a key is the higher of the two.
  *
  *   - '''Guarantee:''' a row is late, or in those of its windows that are open; each window with
  *     rows gives one pane, by ascending end. Nothing is late before there is a watermark.
  *   - '''Units:''' the unit of the spec.
  *   - '''Edges:''' a watermark below the last one changes nothing.
  *   - '''Restart:''' `save` and `restore` keep all of it, also in parts with keys of their own.
  *
  * @param buffers of all keys together: their numbers stay good
  * @param deducts whether frames that leave are deducted, or two stacks used
  */
final class InMemoryWindows[K](spec: WindowSpec, buffers: Buffers, deducts: Boolean) {
  import InMemoryWindows._

  private val rings = mutable.LinkedHashMap.empty[K, FrameWindowState]
  private val ofKeys = mutable.HashMap.empty[K, Long]
  private var ofAll = Option.empty[Long]

  /** No more rows of this key are expected below this; none is known at first. */
  def watermark(key: K): Option[Long] = (ofKeys.get(key) ++ ofAll).maxOption

  /** Takes what is in `buffer`, which stays the caller's, or says by which rule it is late. */
  def observe(key: K, ts: Long, buffer: Int): Option[LateRule] = {
    val late = watermark(key).exists(spec.isLate(ts, _))
    val taken = !late && ringOf(key).add(spec.frames.index(ts), buffer)
    Option.unless(taken)(spec.profile.lateRule)
  }

  /** Moves all keys on. A pane's buffer is good until `give` returns. */
  def advance(watermark: Long)(give: Pane[K] => Unit): Unit = {
    ofAll = (ofAll ++ Some(watermark)).maxOption
    ofAll.foreach(reached => close(rings, spec.closed(reached), give))
  }

  /** Moves one key on. */
  def advance(key: K, watermark: Long)(give: Pane[K] => Unit): Unit = {
    ofKeys(key) = math.max(watermark, ofKeys.getOrElse(key, watermark))
    close(rings.filter(_._1 == key), spec.closed(ofKeys(key)), give)
  }

  /** Closes every window: no more rows are expected at all. */
  def finish(give: Pane[K] => Unit): Unit = close(rings, FrameWindowState.Never, give)

  /** The windows that would close now, which stay open. */
  def open(give: Pane[K] => Unit): Unit = {
    val copy = new InMemoryWindows[K](spec, buffers, deducts)
    copy.restore(Seq(save()), exactly = true)
    copy.finish(give)
  }

  def save(): Saved[K] = Saved(ofAll, ofKeys.toMap, rings.view.mapValues(record).toMap)

  /** Begins with what the parts of an engine had saved.
    *
    * @param exactly whether parts with different watermarks are refused; else the lowest counts
    */
  def restore(parts: Seq[Saved[K]], exactly: Boolean): Unit = {
    val watermarks = parts.map(_.watermark).distinct
    if (exactly && watermarks.length > 1)
      throw new InvalidArgument("watermarks of the parts", watermarks.mkString(", "), "equal")
    ofAll = watermarks.minOption.flatten // none is the lowest of all
    parts.foreach { part =>
      ofKeys ++= part.ofKeys
      part.records.foreach { case (key, bytes) => readInto(newRing(key), bytes) }
    }
  }

  private def ringOf(key: K): FrameWindowState = rings.getOrElse(
    key, {
      val ring = newRing(key)
      ring.begin(watermark(key).fold(Long.MinValue)(spec.closed))
      ring
    }
  )

  private def newRing(key: K): FrameWindowState = {
    val ring =
      FrameWindowState(spec.shape, buffers, deducts, BlockStore.None, blockSize = Int.MaxValue)
    rings(key) = ring
    ring
  }

  private def close(
      some: collection.Map[K, FrameWindowState],
      boundary: Long,
      give: Pane[K] => Unit
  ): Unit = {
    def earliest =
      some.minByOption(_._2.due).filter { case (_, ring) =>
        ring.due <= boundary && ring.due < FrameWindowState.Never
      }
    Iterator.continually(earliest).takeWhile(_.nonEmpty).flatten.foreach { case (key, ring) =>
      if (ring.next(ring.due)) give(pane(key, ring))
    }
    some.values.foreach(_.next(boundary))
    rings.filterInPlace((_, ring) => !ring.isEmpty): Unit
  }

  private def pane(key: K, ring: FrameWindowState): Pane[K] = Pane(
    key,
    spec.grid.start(spec.shape.start(ring.end)),
    spec.grid.start(ring.end),
    ring.result
  )

  private def record(ring: FrameWindowState): ArraySeq[Byte] = {
    val out = new ByteSink
    ring.write(out)
    ArraySeq.unsafeWrapArray(out.bytes.take(out.position))
  }

  private def readInto(ring: FrameWindowState, bytes: ArraySeq[Byte]): Unit = {
    val in = new ByteSource
    in.reset(bytes.toArray, 0)
    ring.read(in)
  }
}

object InMemoryWindows {

  /** One result of a window, whose rows are in `buffer`. */
  final case class Pane[K](key: K, start: Long, end: Long, buffer: Int)

  /** An engine, or the part of one that has these keys. */
  final case class Saved[K](
      watermark: Option[Long],
      ofKeys: Map[K, Long],
      records: Map[K, ArraySeq[Byte]]
  )
}
