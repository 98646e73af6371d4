package io.eventtide.spark.operators

import org.apache.spark.sql.catalyst.expressions.BindReferences.{bindReference, bindReferences}
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  Literal,
  Murmur3Hash,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning

import io.eventtide.spark.spi.PartitionAccum

/** From which event time on no row of a key is late, in one batch; times in microseconds.
  *
  * Rows have to be judged by their keys, whose watermarks are elsewhere. But most are far from late: a
  * row at its key's bound or above is on time, whoever judges it. Keys that share a bucket have the
  * highest bound of them, so bounds may be too high, and are never too low.
  *
  * Tasks report the bounds of their partition after each batch. A run that begins knows none.
  *
  * @param words
  *   as they are sent, since any serializer knows such an array: the bound where none is known, how many
  *   partitions there are, where the bounds of each begin and those of the last end, and the bounds;
  *   as many of a partition as a power of two
  */
private[spark] final class LatenessBounds(val words: Array[Long]) {
  import LatenessBounds._

  private val partitions = words(1).toInt

  private def start(partition: Int): Int = words(Header + partition).toInt

  /** The bound of a key in this place, see `LatenessBounds.place`. */
  def of(partition: Int, hash: Int): Long =
    if (partition >= partitions) words(0)
    else {
      val first = start(partition)
      words(first + bucket(hash, start(partition + 1) - first))
    }

  /** The bounds of a partition; None where they are not known. */
  def ofPartition(partition: Int): Option[Array[Long]] =
    Option.when(partition < partitions)(bounds(partition)).filterNot(_.sameElements(Unknown))

  private def bounds(partition: Int): Array[Long] =
    words.slice(start(partition), start(partition + 1))

  /** What is known when tasks have reported, some of them perhaps twice. */
  def after(reports: Iterable[(Int, Array[Long])]): LatenessBounds =
    if (reports.isEmpty) this
    else {
      val count = math.max(partitions, reports.map(_._1).max + 1)
      val all = Array.tabulate(count)(i => if (i < partitions) bounds(i) else Unknown)
      reports.foreach { case (partition, bounds) => all(partition) = bounds }
      val starts = all.scanLeft(Header + count + 1L)(_ + _.length)
      new LatenessBounds(Array(words(0), count.toLong) ++ starts ++ all.flatten)
    }
}

private[spark] object LatenessBounds {
  private val Header = 2
  private val Unknown = Array(Long.MaxValue)

  /** Every row has to be judged. */
  val unknown: LatenessBounds = all(Long.MaxValue)

  /** All keys have one bound. */
  def all(bound: Long): LatenessBounds = new LatenessBounds(Array(bound, 0L, Header + 1L))

  /** Where the bound of a key is: the partition of the state that it is in, and a hash.
    *
    * @param together
    *   the columns by which keys come to a partition
    */
  def place(together: Seq[Attribute], partitions: Int): KeyBucket = {
    val partition =
      if (together.isEmpty) Literal(0)
      else HashPartitioning(together, partitions).partitionIdExpression
    KeyBucket(partition, hash(together))
  }

  /** The hash of a key, of which there are these columns. */
  def hashOf(together: Seq[Attribute]): UnsafeProjection =
    UnsafeProjection.create(bindReferences(Seq(hash(together)), together))

  private def hash(together: Seq[Expression]): Expression =
    if (together.isEmpty) Literal(0) else Murmur3Hash(together, Seed)

  // Another than that of the partition, by which all keys of a partition are alike.
  private val Seed = 44

  private def bucket(hash: Int, length: Int): Int =
    (Hashing.mix(hash.toLong) >>> 32).toInt & (length - 1)

  /** Raises the bound of a key; false where it was as high before. */
  private[operators] def raise(bounds: Array[Long], hash: Int, to: Long): Boolean = {
    val i = bucket(hash, bounds.length)
    val rises = bounds(i) < to
    if (rises) bounds(i) = to
    rises
  }

  /** How many bounds a partition may have: those of all are sent to each executor, a megabyte. */
  def most(partitions: Int): Int = Integer.highestOneBit(math.max(1, Most / partitions))

  private val Most = 1 << 17
}

/** In which partition the bound of a row's key is, and a hash of the key. */
private[spark] final case class KeyBucket(partition: Expression, hash: Expression) {
  def over(input: Seq[Attribute]): KeyBucket =
    KeyBucket(bindReference(partition, input), bindReference(hash, input))
}

/** What a task has to tell of the watermarks of its keys, when it has moved them on.
  *
  * @param before
  *   the highest watermark that a key of the partition has ever had; `Long.MinValue` for none
  * @param buckets
  *   None where nobody asks for bounds
  */
private[operators] final class PartitionBoundsUpdate(
    before: Long,
    buckets: Option[BoundHashBuckets]
) {
  private var reached = before

  /** A key, or a group of keys, has this watermark now. */
  def raise(of: UnsafeRow, watermark: Long): Unit = {
    reached = math.max(reached, watermark)
    if (buckets.isDefined) buckets.get.raise(of, watermark)
  }

  /** The highest watermark that a key of the partition has ever had; `Long.MinValue` for none. */
  def highest: Long = reached

  /** Whether all keys have to be turned to for their bounds, in the first batch of a run. */
  def wantAll: Boolean = buckets.exists(_.wantAll)

  /** The bounds of the partition from now on, if they are others than before. */
  def report: Option[Array[Long]] = buckets.filter(_.hasChanged).map(_.bounds)
}

/** The bounds of one partition in its task.
  *
  * @param together
  *   the columns by which keys come to the partition
  * @param lateBelow
  *   the lowest time that is not late at a watermark
  * @param known
  *   as of the batch before; None in the first one of a run
  * @param state
  *   of the partition, before the batch
  * @param most
  *   so many buckets at most, a power of two
  */
private[operators] final class BoundHashBuckets(
    together: Seq[Attribute],
    lateBelow: Long => Long,
    known: Option[Array[Long]],
    state: PartitionBoundsInput,
    most: Int
) {
  private val hashOf = LatenessBounds.hashOf(together)

  private var hasRisen = false

  /** Whether nothing is known, and all keys are turned to anyway, or are few enough. */
  val wantAll: Boolean =
    known.isEmpty && (state.isVisited || state.keys <= BoundHashBuckets.MostVisited)

  val bounds: Array[Long] = {
    def ofAll =
      if (wantAll || state.highest == Long.MinValue) Long.MinValue else lateBelow(state.highest)
    val before = known.getOrElse(Array(ofAll))
    Array.tabulate(wanted(before.length))(i => before(i & (before.length - 1)))
  }

  // At least twice as many as keys, so that few share one; the first keys come before they are counted.
  private def wanted(least: Int): Int = {
    val forKeys =
      java.lang.Long.highestOneBit(math.max(BoundHashBuckets.AtFirst, state.keys) * 4 - 1)
    math.max(least.toLong, math.min(most.toLong, forKeys)).toInt
  }

  def raise(of: UnsafeRow, watermark: Long): Unit =
    if (LatenessBounds.raise(bounds, hashOf(of).getInt(0), lateBelow(watermark))) hasRisen = true

  /** Whether they are others than those that are known. */
  def hasChanged: Boolean = hasRisen || !known.exists(_.length == bounds.length)
}

/** What a partition remembers that its bounds depend on.
  *
  * @param highest
  *   the highest watermark that a key has ever had; `Long.MinValue` for none
  * @param keys
  *   how many there are
  * @param isVisited
  *   whether all keys are turned to in this batch, however many there are
  */
private[operators] final case class PartitionBoundsInput(
    highest: Long,
    keys: Long,
    isVisited: Boolean
)

private object BoundHashBuckets {
  private val AtFirst = 1024L
  private val MostVisited = 1L << 16 // in half a second
}

/** Brings the bounds of each partition to the driver; the last report of a partition counts. */
final class LatenessBoundsAccum extends PartitionAccum[Array[Long]] {
  override protected def empty: LatenessBoundsAccum = new LatenessBoundsAccum
}
