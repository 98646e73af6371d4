package io.eventtide.spark.operators

import org.apache.spark.SparkConf
import org.apache.spark.serializer.KryoSerializer
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, UnsafeProjection}
import org.apache.spark.sql.types.IntegerType
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Bounds of keys, as watermarks move on from batch to batch. */
final class LatenessBoundsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val Partitions = 3
  private val together = Seq(AttributeReference("key", IntegerType)())
  private val keyOf =
    UnsafeProjection.create(Array[org.apache.spark.sql.types.DataType](IntegerType))
  private val placeOf = {
    val KeyBucket(partition, hash) = LatenessBounds.place(together, Partitions).over(together)
    UnsafeProjection.create(Seq(partition, hash))
  }

  private def lateBelow(watermark: Long): Long = Math.floorDiv(watermark, 10L) * 10

  private def place(key: Int): (Int, Int) = {
    val place = placeOf(InternalRow(key))
    (place.getInt(0), place.getInt(1))
  }

  private def boundOf(bounds: LatenessBounds, key: Int): Long = {
    val (partition, hash) = place(key)
    bounds.of(partition, hash)
  }

  /** The partitions, of which each says what it knows after a batch; see `StreamingWindowIterator`. */
  private final class Tasks(most: Int) {
    private var watermarks = Map.empty[Int, Long]

    private def of(partition: Int) = watermarks.filter(key => place(key._1)._1 == partition)

    def batch(before: LatenessBounds, raised: Map[Int, Long]): LatenessBounds =
      before.after((0 until Partitions).map { partition =>
        val known = before.partitionBounds(partition)
        val highest = of(partition).values.maxOption.getOrElse(Long.MinValue)
        val keys = of(partition).size.toLong
        val state = PartitionBoundsInput(highest, keys, isVisited = false)
        val buckets = new BoundHashBuckets(together, lateBelow, known, state, most)
        if (buckets.wantAll) of(partition).foreach { case (key, watermark) =>
          buckets.raise(keyOf(InternalRow(key)), watermark)
        }
        raised.filter(key => place(key._1)._1 == partition).foreach { case (key, watermark) =>
          val to = math.max(watermark, watermarks.getOrElse(key, Long.MinValue))
          watermarks += key -> to
          buckets.raise(keyOf(InternalRow(key)), to)
        }
        partition -> buckets.bounds
      })

    def all: Map[Int, Long] = watermarks
  }

  private val batches: Gen[Seq[Map[Int, Long]]] = Gen.listOf(
    Gen.mapOf(
      for (key <- Gen.choose(0, 60); watermark <- Gen.choose(-50L, 500L)) yield (key, watermark)
    )
  )

  test("a bound is never below what its key's watermark says, also after a restart") {
    forAll(batches, Gen.oneOf(1, 4, 1024), Gen.choose(0, 5)) { (batches, most, restart) =>
      val tasks = new Tasks(most)
      batches.zipWithIndex.foldLeft(LatenessBounds.unknown) { case (before, (raised, i)) =>
        val bounds = tasks.batch(if (i == restart) LatenessBounds.unknown else before, raised)
        tasks.all.foreach { case (key, watermark) =>
          assert(boundOf(bounds, key) >= lateBelow(watermark))
        }
        bounds
      }: Unit
    }
  }

  test("few keys have the bound of another") {
    val keys = 0 until 300
    val tasks = new Tasks(1 << 12)
    val ahead = keys.map(key => key -> key * 100L).toMap
    val bounds =
      (1 to 3).foldLeft(LatenessBounds.unknown)((before, _) => tasks.batch(before, ahead))
    def own(bounds: LatenessBounds) =
      keys.count(key => boundOf(bounds, key) == lateBelow(key * 100L))
    assert(own(bounds) > 200)
    assert(own(tasks.batch(LatenessBounds.unknown, Map.empty)) > 200)
  }

  test("what is sent is known to a serializer that knows only what was registered") {
    val conf = new SparkConf().set("spark.kryo.registrationRequired", "true")
    val kryo = new KryoSerializer(conf).newInstance()
    val words = new Tasks(4).batch(LatenessBounds.unknown, Map(1 -> 7L)).words
    assert(kryo.deserialize[Array[Long]](kryo.serialize(words)).sameElements(words))
  }

  test("before there are reports nothing is sure") {
    assert(keysAt(LatenessBounds.unknown) == Set(Long.MaxValue))
    assert(keysAt(LatenessBounds.all(7)) == Set(7L))
  }

  private def keysAt(bounds: LatenessBounds): Set[Long] = (0 until 10).map(boundOf(bounds, _)).toSet
}
