package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput
import java.util.Arrays
import java.util.Objects

import scala.collection.mutable

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.SavedText

/** The substreams by index and by name.
  *
  *   - '''Guarantee:''' indexes are dense and in the order of declaration; names are unique.
  *   - '''Edges:''' removing one shifts the higher indexes down by one.
  *   - '''Restart:''' saved whole, or only what was touched or removed since the last save.
  */
private[watermark] final class SubstreamTable(
    spec: PolicySpec,
    postponed: PostponedRows
) {
  private var members = new Array[Substream](16)
  private var used = 0
  postponed.resize(members.length)
  private val indexes = mutable.HashMap.empty[String, Int]
  private val removed = mutable.LinkedHashSet.empty[String] // since the last save

  /** The highest watermark of those that were removed. */
  val left: Highest = new Highest

  def size: Int = used

  /** The substream, told of all rows before it is looked at. */
  def apply(index: Int): Substream = {
    val substream = members(Objects.checkIndex(index, used))
    if (postponed.count(index) > 0) tell(index, substream)
    substream
  }

  /** Lets rows of a substream be postponed that cannot bring it to `target`. */
  def wakeAt(index: Int, target: Long): Unit =
    postponed.wake(index, members(index).firstRowFor(target))

  def indexOf(name: String): Option[Int] = indexes.get(name)

  def append(name: String, quietFrom: Long): Int = {
    if (indexes.contains(name)) throw new InvalidArgument("substream", name, "declared once")
    if (used == members.length) grow()
    members(used) = newSubstream(name, quietFrom)
    postponed.begin(used)
    indexes(name) = used
    used += 1
    used - 1
  }

  def remove(index: Int): Unit = {
    val gone = apply(index)
    if (gone.known) { val _ = left.raise(gone.watermark) }
    used -= 1
    System.arraycopy(members, index + 1, members, index, used - index)
    postponed.remove(index, used + 1)
    members(used) = null // let go of it
    indexes.remove(gone.name)
    for (i <- index until used) indexes(members(i).name) = i
    removed += gone.name
  }

  /** Gives a substream another name; the record under the old one goes with the next save. */
  def rename(index: Int, name: String): Unit = {
    if (indexes.contains(name)) throw new InvalidArgument("substream", name, "declared once")
    removed += apply(index).name
    indexes.remove(apply(index).name)
    indexes(name) = index
    apply(index).rename(name)
  }

  def iterator: Iterator[Substream] = Iterator.range(0, used).map(apply)

  /** Saves, and notes that all is saved. */
  def save(out: DataOutput, whole: Boolean): Unit = {
    write(out, whole)
    iterator.foreach(_.touched = false)
    removed.clear()
  }

  def write(out: DataOutput, whole: Boolean): Unit = {
    left.save(out)
    val gone = if (whole) Nil else removed.toSeq
    out.writeInt(gone.size)
    gone.foreach(SavedText.write(out, _))
    out.writeInt(iterator.count(whole || _.touched))
    iterator.filter(whole || _.touched).foreach(write(out, _))
  }

  /** Takes over a whole record, or on top of that a later change. */
  def restore(in: DataInput): Unit = {
    val savedLeft = new Highest
    savedLeft.restore(in)
    for (_ <- 0 until in.readInt()) indexOf(SavedText.read(in)).foreach(remove)
    for (_ <- 0 until in.readInt()) read(in)
    if (savedLeft.known) { val _ = left.raise(savedLeft.value) }
    removed.clear()
  }

  private def tell(index: Int, substream: Substream): Unit = {
    substream.observePostponed(postponed.last(index), postponed.top(index), postponed.count(index))
    postponed.told(index)
  }

  private def newSubstream(name: String, quietFrom: Long) =
    new Substream(name, spec.create(), quietFrom, spec.measuresSilence)

  private def grow(): Unit = {
    members = Arrays.copyOf(members, used * 2)
    postponed.resize(used * 2)
  }

  private def write(out: DataOutput, substream: Substream): Unit = {
    SavedText.write(out, substream.name)
    substream.save(out)
  }

  /** A record replaces what is there under its name, in its place. */
  private def read(in: DataInput): Unit = {
    val name = SavedText.read(in)
    val index = indexOf(name).getOrElse(append(name, 0))
    members(index) = newSubstream(name, 0)
    postponed.begin(index)
    members(index).restore(in)
    members(index).touched = false
  }
}
