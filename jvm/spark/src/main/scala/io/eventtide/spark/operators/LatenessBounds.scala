package io.eventtide.spark.operators

import org.apache.spark.sql.catalyst.expressions.BindReferences.bindReference
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  Literal,
  Murmur3Hash,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning

import io.eventtide.spark.state.Projections

/** The event time from which on no row of a key is late in one batch; times are in microseconds.
  *
  * Lateness depends on the watermark of a row's key, which only the task with the key's state has.
  * But most rows are far from late: a row at or above its key's bound is on time, and any task can
  * decide that. Keys in the same bucket share the highest of their bounds. So a bound may be too
  * high, but is never too low.
  *
  * Tasks report the bounds of their partition after each batch. At the start of a run there are no
  * bounds.
  *
  * @param words
  *   the bounds as one array, which every serializer supports: the bound of an unknown partition,
  *   the number of partitions, the start of each partition's bounds, the end of the last ones, and
  *   the bounds. The number of bounds of a partition is a power of two.
  */
private[spark] final class LatenessBounds(val words: Array[Long]) {
  import LatenessBounds._

  private val partitions = words(1).toInt

  private def start(partition: Int): Int = words(Header + partition).toInt

  /** The bound of a key in this bucket, see `LatenessBounds.place`. */
  def of(partition: Int, hash: Int): Long =
    if (partition >= partitions) words(0)
    else {
      val first = start(partition)
      words(first + bucket(hash, start(partition + 1) - first))
    }

  /** The bounds of a partition; None if they are not known. */
  def partitionBounds(partition: Int): Option[Array[Long]] =
    Option.when(partition < partitions)(bounds(partition)).filterNot(_.sameElements(Unknown))

  private def bounds(partition: Int): Array[Long] =
    words.slice(start(partition), start(partition + 1))

  /** The bounds after the tasks' reports; a partition may be reported more than once. */
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

  /** No bound is known: the lateness of every row depends on its key. */
  val unknown: LatenessBounds = all(Long.MaxValue)

  /** All keys have the same bound. */
  def all(bound: Long): LatenessBounds = new LatenessBounds(Array(bound, 0L, Header + 1L))

  /** The bucket of a key's bound: the state partition of the key, and a hash.
    *
    * @param together
    *   the columns by which rows are partitioned
    */
  def place(together: Seq[Attribute], partitions: Int): KeyBucket = {
    val partition =
      if (together.isEmpty) Literal(0)
      else HashPartitioning(together, partitions).partitionIdExpression
    KeyBucket(partition, hash(together))
  }

  /** The hash of a key over these columns. */
  def hashOf(together: Seq[Attribute]): UnsafeProjection =
    Projections.unsafe(Seq(hash(together)), together)

  private def hash(together: Seq[Expression]): Expression =
    if (together.isEmpty) Literal(0) else Murmur3Hash(together, Seed)

  // Differs from the partitioning's seed, by which all keys of a partition have similar hashes.
  private val Seed = 44

  private def bucket(hash: Int, length: Int): Int =
    (Hashing.mix(hash.toLong) >>> 32).toInt & (length - 1)

  /** Raises the bound of a key; false if it was not lower before. */
  private[operators] def raise(bounds: Array[Long], hash: Int, to: Long): Boolean = {
    val i = bucket(hash, bounds.length)
    val rises = bounds(i) < to
    if (rises) bounds(i) = to
    rises
  }

  /** The maximum number of bounds of a partition. The bounds of all partitions are sent to each
    * executor, one megabyte in total.
    */
  def most(partitions: Int): Int = Integer.highestOneBit(math.max(1, Most / partitions))

  private val Most = 1 << 17
}

/** The partition of the bound of a row's key, and a hash of the key. */
private[spark] final case class KeyBucket(partition: Expression, hash: Expression) {
  def over(input: Seq[Attribute]): KeyBucket =
    KeyBucket(bindReference(partition, input), bindReference(hash, input))
}

/** A task's report on its keys' watermarks, after it has advanced them.
  *
  * @param before
  *   the highest watermark that a key of the partition has ever had; `Long.MinValue` for none
  * @param buckets
  *   the partition's bounds; None if bounds are not used
  */
private[operators] final class PartitionBoundsUpdate(
    before: Long,
    buckets: Option[BoundHashBuckets]
) {
  private var reached = before

  /** Records the new watermark of a key or of a group of keys. */
  def raise(of: UnsafeRow, watermark: Long): Unit = {
    reached = math.max(reached, watermark)
    if (buckets.isDefined) buckets.get.raise(of, watermark)
  }

  /** The highest watermark that a key of the partition has ever had; `Long.MinValue` for none. */
  def highest: Long = reached

  /** Whether all keys have to be read for their bounds, in the first batch of a run. */
  def wantAll: Boolean = buckets.exists(_.wantAll)

  /** The new bounds of the partition; None if they are unchanged. */
  def report: Option[Array[Long]] = buckets.filter(_.hasChanged).map(_.bounds)
}

/** The bounds of one partition in its task.
  *
  * @param together
  *   the columns by which rows are partitioned
  * @param lateBelow
  *   the lowest time that is not late at a watermark
  * @param known
  *   the bounds after the previous batch; None in the first batch of a run
  * @param state
  *   the partition's state before the batch
  * @param most
  *   the maximum number of buckets, a power of two
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

  /** Whether no bounds are known, and all keys are read in this batch or their number is small
    * enough to read them.
    */
  val wantAll: Boolean =
    known.isEmpty && (state.isVisited || state.keys <= BoundHashBuckets.MostVisited)

  val bounds: Array[Long] = {
    def firstBounds =
      if (wantAll || state.highest == Long.MinValue) Long.MinValue else lateBelow(state.highest)
    val before = known.getOrElse(Array(firstBounds))
    Array.tabulate(wanted(before.length))(i => before(i & (before.length - 1)))
  }

  // At least two buckets per key, so that few keys share a bucket. The minimum applies to the first
  // keys, which arrive before they are counted.
  private def wanted(least: Int): Int = {
    val forKeys =
      java.lang.Long.highestOneBit(math.max(BoundHashBuckets.AtFirst, state.keys) * 4 - 1)
    math.max(least.toLong, math.min(most.toLong, forKeys)).toInt
  }

  def raise(of: UnsafeRow, watermark: Long): Unit =
    if (LatenessBounds.raise(bounds, hashOf(of).getInt(0), lateBelow(watermark))) hasRisen = true

  /** Whether the bounds differ from the known bounds. */
  def hasChanged: Boolean = hasRisen || !known.exists(_.length == bounds.length)
}

/** The part of a partition's state that its bounds depend on.
  *
  * @param highest
  *   the highest watermark that a key has ever had; `Long.MinValue` for none
  * @param keys
  *   the number of keys
  * @param isVisited
  *   whether all keys are read in this batch, regardless of their number
  */
private[operators] final case class PartitionBoundsInput(
    highest: Long,
    keys: Long,
    isVisited: Boolean
)

private object BoundHashBuckets {
  private val AtFirst = 1024L
  private val MostVisited = 1L << 16 // takes half a second
}
