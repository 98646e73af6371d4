package org.apache.spark.sql.eventtide

import org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.HasStreamingSourceIdentifyingName
import org.apache.spark.sql.classic.DataStreamReader
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreIterator,
  StateStoreProvider,
  UnsafeRowPair
}

/** What differs between the minor releases of Spark, as it is from 4.2 on. */
object SparkShims {

  def isStateful(node: LogicalPlan): Boolean = UnsupportedOperationChecker.isStatefulOperation(node)

  /** The names that users gave to sources. */
  def sourceNames(plan: LogicalPlan): Seq[String] = plan.collect {
    case source: HasStreamingSourceIdentifyingName => source.sourceIdentifyingName.nameOpt
  }.flatten

  def named(reader: DataStreamReader, name: String): DataStreamReader = reader.name(name)

  /** The entries of a family that is in the order of its first columns, whole numbers, from an entry on.
    */
  def entriesFrom(
      store: StateStore,
      start: Option[UnsafeRow],
      numbers: Int,
      family: String
  ): StateStoreIterator[UnsafeRowPair] = store.rangeScan(start, None, family)

  /** Whether `emptyStore` is supported. */
  val hasEmptyStores: Boolean = true

  /** An empty store at a version, whatever is stored; a commit writes the next version as a
    * snapshot.
    */
  def emptyStore(provider: StateStoreProvider, version: Long): StateStore =
    provider.getStore(version, loadEmpty = true)
}
