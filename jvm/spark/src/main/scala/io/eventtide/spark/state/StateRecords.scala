package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.expressions.{
  BoundReference,
  Literal,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.execution.streaming.state.{StateStore, UnsafeRowPair}
import org.apache.spark.sql.types.StructType

/** One row of a partition's state, in a form that can be sent to another partition. */
private[state] final case class StateRecord(
    family: String,
    key: Array[Byte],
    value: Array[Byte]
)

/** The rows of a partition's state, as records for other partitions of the same keys.
  *
  * The indexes are omitted, because each key has its timers. The metadata go to all partitions.
  *
  * Records are ordered by their new partition, and within it: the metadata come first, and a group
  * comes before its keys. The records of a group are next to each other.
  *
  * @param partitions
  *   the number of new partitions; 1 if the layout has no columns to partition by
  */
private[state] final class StateRecords(families: WindowStateLayout, partitions: Int) {
  import StateRecords._

  def of(store: StateStore): Iterator[(Place, StateRecord)] = {
    families.create(store)
    val groups = families.groups.iterator.flatMap { columns =>
      placed(store, WindowStateLayout.Groups, families.groupKeys, columns.indices, GroupRank)
    }
    val ofKeys = Seq(
      StateStore.DEFAULT_COL_FAMILY_NAME -> families.keys,
      WindowStateLayout.Blocks -> families.blockKeys,
      WindowStateLayout.History -> families.blockKeys
    )
    metadata(store) ++ groups ++ ofKeys.iterator.flatMap { case (family, schema) =>
      placed(store, family, schema, families.together, KeyRank)
    }
  }

  private def metadata(store: StateStore): Iterator[(Place, StateRecord)] = {
    val family = WindowStateLayout.PartitionMeta
    store.iterator(family).flatMap { row =>
      val record = recordOf(family, row)
      (0 until partitions).iterator.map(partition => ((partition, First), record))
    }
  }

  private def keyRows(store: StateStore, family: String): Iterator[UnsafeRowPair] =
    if (family == StateStore.DEFAULT_COL_FAMILY_NAME && families.hasPages)
      KeyPages.all(store, families)
    else store.iterator(family)

  private def placed(
      store: StateStore,
      family: String,
      schema: StructType,
      columns: Seq[Int],
      rank: Int
  ): Iterator[(Place, StateRecord)] = {
    val placeOf = hashes(schema, columns)
    keyRows(store, family).map { row =>
      val place = placeOf(row.key)
      ((place.getInt(0), place.getInt(1).toLong << 1 | rank), recordOf(family, row))
    }
  }

  // The partition as Spark's shuffle chooses it, and a hash that keeps groups and pages together.
  private def hashes(schema: StructType, columns: Seq[Int]): UnsafeProjection = {
    val values =
      columns.map(at => BoundReference(at, schema(at).dataType, nullable = true))
    UnsafeProjection.create(
      if (values.isEmpty) Seq(Literal(0), Literal(0))
      else
        Seq(HashPartitioning(values, partitions).partitionIdExpression, KeyPages.hash(values))
    )
  }

  private def recordOf(family: String, row: UnsafeRowPair) =
    StateRecord(family, row.key.getBytes, row.value.getBytes)
}

private[state] object StateRecords {

  /** The partition of a record, and its order in that partition. */
  type Place = (Int, Long)

  private val First = Long.MinValue
  private val GroupRank = 0
  private val KeyRank = 1

  /** Fills an empty store with the records of one partition, in their order. */
  def write(
      store: StateStore,
      families: WindowStateLayout,
      records: Iterator[StateRecord]
  ): Unit = {
    val (first, others) = records.span(_.family == WindowStateLayout.PartitionMeta)
    val (metadata, layouts) = first.toList.partition { record =>
      row(record.key, 1).getLong(0) == PartitionMetaStore.Id
    }
    val before = metadata.map(record => PartitionMetaStore.read(row(record.value, 1)))
    // Ids begin at 0: the ids of later batches are higher.
    val timingOptions = before.headOption.fold("")(_.timingOptions)
    val state = new FrameStore(store, families, batchId = 0, now = () => 0, timingOptions)
    layouts.foreach { case StateRecord(family, key, value) =>
      store.put(row(key, 1), row(value, 1), family) // the same in all partitions
    }
    others.foreach { case StateRecord(family, key, value) =>
      val saved = row(value, 1)
      family match {
        case StateStore.DEFAULT_COL_FAMILY_NAME =>
          state.adopt(row(key, families.keys.length), saved)
        case WindowStateLayout.Groups =>
          state.groups.foreach(_.adopt(row(key, families.groupKeys.length), saved))
        case _ => store.put(row(key, families.blockKeys.length), saved, family)
      }
    }
    def highest(of: PartitionMeta => Long) = before.map(of).maxOption.getOrElse(Long.MinValue)
    state.finish(highest(_.closed), highest(_.watermark)): Unit
  }

  private def row(bytes: Array[Byte], columns: Int): UnsafeRow = {
    val row = new UnsafeRow(columns)
    row.pointTo(bytes, bytes.length)
    row
  }
}
