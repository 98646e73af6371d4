package io.eventtide.kernel.window

import scala.collection.immutable.ArraySeq
import scala.collection.mutable

import io.eventtide.kernel.InvalidArgument

/** The windows of many keys in memory: the reference engine that other engines are compared with.
  *
  * A watermark is set for all keys or for one key; the higher of the two applies to a key.
  *
  *   - '''Guarantee:''' a row is either late or in all of its open windows. Each window with rows
  *     emits one pane, in ascending order of end. No row is late before the first watermark.
  *   - '''Units:''' the unit of the spec.
  *   - '''Edges:''' a watermark below the last one has no effect.
  *   - '''Restart:''' `save` and `restore` keep all state; it can be split into parts with disjoint
  *     keys.
  *
  * @param buffers buffers of all keys; their numbers stay valid
  * @param deducts whether evicted frames are deducted; if not, two stacks are used
  */
final class InMemoryWindows[K](spec: WindowSpec, buffers: Buffers, deducts: Boolean) {
  import InMemoryWindows._

  private val states = mutable.LinkedHashMap.empty[K, FrameWindowState]
  private val ofKeys = mutable.HashMap.empty[K, Long]
  private var ofAll = Option.empty[Long]

  /** The time below which no more rows of the key are expected; None before any watermark. */
  def watermark(key: K): Option[Long] = (ofKeys.get(key) ++ ofAll).maxOption

  /** Adds `buffer`, which the caller keeps; returns the rule by which the row is late, if it is. */
  def observe(key: K, ts: Long, buffer: Int): Option[LateRule] = {
    val late = watermark(key).exists(ts < spec.lateBelow(_))
    val taken = !late && stateOf(key).add(spec.frames.index(ts), buffer)
    Option.unless(taken)(spec.profile.lateRule)
  }

  /** Advances the watermark of all keys. A pane's buffer is valid until `give` returns. */
  def advance(watermark: Long)(give: Pane[K] => Unit): Unit = {
    ofAll = (ofAll ++ Some(watermark)).maxOption
    ofAll.foreach(reached => close(states, spec.closed(reached), give))
  }

  /** Advances the watermark of one key. */
  def advance(key: K, watermark: Long)(give: Pane[K] => Unit): Unit = {
    ofKeys(key) = math.max(watermark, ofKeys.getOrElse(key, watermark))
    close(states.filter(_._1 == key), spec.closed(ofKeys(key)), give)
  }

  /** Closes every window, at the end of the input. */
  def finish(give: Pane[K] => Unit): Unit = close(states, FrameWindowState.Never, give)

  /** Emits the panes of all open windows; the windows stay open. */
  def open(give: Pane[K] => Unit): Unit = {
    val copy = new InMemoryWindows[K](spec, buffers, deducts)
    copy.restore(Seq(save()), exactly = true)
    copy.finish(give)
  }

  def save(): Saved[K] = Saved(ofAll, ofKeys.toMap, states.view.mapValues(record).toMap)

  /** Restores the saved parts of an engine.
    *
    * @param exactly whether different watermarks of the parts are an error; if not, the lowest
    *   applies
    */
  def restore(parts: Seq[Saved[K]], exactly: Boolean): Unit = {
    val watermarks = parts.map(_.watermark).distinct
    if (exactly && watermarks.length > 1)
      throw new InvalidArgument("watermarks of the parts", watermarks.mkString(", "), "equal")
    ofAll = watermarks.minOption.flatten // None is the lowest
    parts.foreach { part =>
      ofKeys ++= part.ofKeys
      part.records.foreach { case (key, bytes) => readInto(newState(key), bytes) }
    }
  }

  private def stateOf(key: K): FrameWindowState = states.getOrElse(
    key, {
      val state = newState(key)
      state.begin(watermark(key).fold(Long.MinValue)(spec.closed))
      state
    }
  )

  private def newState(key: K): FrameWindowState = {
    val state =
      FrameWindowState(
        spec.shape,
        buffers,
        FrameCombining(deducts),
        BlockStore.None,
        blockSize = Int.MaxValue
      )
    states(key) = state
    state
  }

  private def close(
      some: collection.Map[K, FrameWindowState],
      boundary: Long,
      give: Pane[K] => Unit
  ): Unit = {
    def earliest =
      some.minByOption(_._2.due).filter { case (_, state) =>
        state.due <= boundary && state.due < FrameWindowState.Never
      }
    Iterator.continually(earliest).takeWhile(_.nonEmpty).flatten.foreach { case (key, state) =>
      if (state.next(state.due)) give(pane(key, state))
    }
    some.values.foreach(_.next(boundary))
    states.filterInPlace((_, state) => !state.isEmpty): Unit
  }

  private def pane(key: K, state: FrameWindowState): Pane[K] = Pane(
    key,
    spec.grid.start(spec.shape.start(state.end)),
    spec.grid.start(state.end),
    state.result
  )

  private def record(state: FrameWindowState): ArraySeq[Byte] = {
    val out = new ByteSink
    state.write(out)
    ArraySeq.unsafeWrapArray(out.bytes.take(out.position))
  }

  private def readInto(state: FrameWindowState, bytes: ArraySeq[Byte]): Unit = {
    val in = new ByteSource
    in.reset(bytes.toArray, 0)
    state.read(in)
  }
}

object InMemoryWindows {

  /** One result of a window, whose rows are in `buffer`. */
  final case class Pane[K](key: K, start: Long, end: Long, buffer: Int)

  /** The saved state of an engine, or of the part of an engine with these keys. */
  final case class Saved[K](
      watermark: Option[Long],
      ofKeys: Map[K, Long],
      records: Map[K, ArraySeq[Byte]]
  )
}
