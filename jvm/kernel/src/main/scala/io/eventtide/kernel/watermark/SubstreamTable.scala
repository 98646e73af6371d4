package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput
import java.util.Arrays
import java.util.Objects

import scala.collection.mutable

import io.eventtide.kernel.{InvalidArgument, SavedText}

/** The substreams, by index and by name.
  *
  *   - '''Guarantee:''' indexes are dense and in declaration order; names are unique.
  *   - '''Edges:''' removing substreams shifts the higher indexes down.
  *   - '''Restart:''' saves all substreams, or only substreams touched or removed since the last
  *     save.
  */
private[watermark] final class SubstreamTable(
    spec: PolicySpec,
    deferred: DeferredUpdates
) {
  private var members = new Array[Substream](16)
  private var used = 0
  private val indexes = mutable.HashMap.empty[String, Int]
  private val changed = mutable.ArrayBuffer.empty[Substream] // touched since the last save
  private val removed = mutable.LinkedHashSet.empty[String] // since the last save

  private var lag = Option.empty[Long] // learnt by the query; None for policies without a target

  /** The highest watermark of the removed substreams. */
  val highestRemoved: MonotonicMax = new MonotonicMax

  def size: Int = used

  /** Sets the lag that the query has learnt, for all substreams and for those to come. */
  def learn(lag: Long): Unit = {
    this.lag = Some(lag)
    iterator.foreach(_.learn(lag))
  }

  /** The substream at `index`, after its deferred rows have been applied. */
  def apply(index: Int): Substream = {
    val substream = members(Objects.checkIndex(index, used))
    if (deferred.count(index) > 0) applyDeferred(index, substream)
    substream
  }

  /** Allocates space for deferred rows. */
  def reserveDeferred(): Unit = deferred.ensureCapacity(members.length)

  /** Defers the rows of a substream that cannot take it to `target`. */
  def deferUntil(index: Int, target: Long): Unit =
    deferred.setThreshold(index, members(index).firstRowFor(target))

  def indexOf(name: String): Option[Int] = indexes.get(name)

  def append(name: String, declaredAt: Long): Int = {
    if (indexes.contains(name)) throw new InvalidArgument("substream", name, "declared once")
    if (used == members.length) grow()
    members(used) = newSubstream(name, declaredAt)
    deferred.reset(used)
    members(used).touch()
    indexes(name) = used
    used += 1
    used - 1
  }

  def remove(index: Int): Unit = {
    val gone = apply(index)
    removeAll(_ eq gone)
  }

  /** Removes all matching substreams in one pass; the others keep their order. */
  def removeAll(isGone: Substream => Boolean): Unit = {
    iterator.filter(isGone).foreach { one =>
      if (one.known) { val _ = highestRemoved.raise(one.watermark) }
      one.markSaved()
      removed += one.name
    }
    drop(isGone)
  }

  // All deferred rows have already been applied.
  private def drop(isGone: Substream => Boolean): Unit = {
    var kept = 0
    for (i <- 0 until used) {
      val one = members(i)
      if (isGone(one)) indexes.remove(one.name)
      else {
        if (kept < i) { members(kept) = one; indexes(one.name) = kept }
        kept += 1
      }
      deferred.reset(i)
    }
    for (i <- kept until used) members(i) = null // for the garbage collector
    used = kept
  }

  /** Renames a substream; the next save removes the record under the old name. */
  def rename(index: Int, name: String): Unit = {
    if (indexes.contains(name)) throw new InvalidArgument("substream", name, "declared once")
    removed += apply(index).name
    indexes.remove(apply(index).name)
    indexes(name) = index
    apply(index).rename(name, spec.forSubstream(name))
    lag.foreach(apply(index).learn)
  }

  def iterator: Iterator[Substream] = Iterator.range(0, used).map(apply)

  /** Saves, and marks all changes as saved. */
  def save(out: DataOutput, whole: Boolean): Unit = {
    applyAllDeferred()
    write(out, whole)
    markSaved()
  }

  private def applyAllDeferred(): Unit =
    for (i <- 0 until used if deferred.count(i) > 0) applyDeferred(i, members(i))

  private def markSaved(): Unit = {
    changed.foreach(_.markSaved())
    changed.clear()
    removed.clear()
  }

  private def write(out: DataOutput, whole: Boolean): Unit = {
    highestRemoved.save(out)
    val gone = if (whole) Nil else removed.toSeq
    out.writeInt(gone.size)
    gone.foreach(SavedText.write(out, _))
    if (whole) {
      out.writeInt(used)
      for (i <- 0 until used) write(out, members(i))
    } else {
      out.writeInt(changed.count(_.touched))
      changed.foreach(one => if (one.touched) write(out, one))
    }
  }

  /** Restores a whole record, or applies a later change on top of it. `stepsBefore` is the number
    * of `SharedSteps` before the record.
    */
  def restore(in: DataInput, stepsBefore: Int): Unit = {
    val savedHighest = new MonotonicMax
    savedHighest.restore(in)
    val gone = Set.fill(in.readInt())(SavedText.read(in))
    if (gone.nonEmpty) drop(one => gone(one.name)) // `highestRemoved` includes their watermarks
    for (_ <- 0 until in.readInt()) read(in).stepsBefore = stepsBefore
    if (savedHighest.known) { val _ = highestRemoved.raise(savedHighest.value) }
    markSaved()
  }

  private def applyDeferred(index: Int, substream: Substream): Unit = {
    substream.observe(deferred.last(index), deferred.top(index), deferred.count(index))
    deferred.clear(index)
  }

  private def newSubstream(name: String, declaredAt: Long) = {
    val added = new Substream(name, spec.forSubstream(name), declaredAt, changed)
    lag.foreach(added.learn)
    added
  }

  private def grow(): Unit = members = Arrays.copyOf(members, used * 2)

  private def write(out: DataOutput, substream: Substream): Unit = {
    SavedText.write(out, substream.name)
    substream.save(out)
  }

  /** Reads a record, which replaces the substream of its name at the same index. */
  private def read(in: DataInput): Substream = {
    val name = SavedText.read(in)
    val index = indexOf(name).getOrElse(append(name, 0))
    members(index) = newSubstream(name, 0)
    deferred.reset(index)
    members(index).restore(in)
    members(index)
  }
}
