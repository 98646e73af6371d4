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

/** The code that differs between minor releases of Spark, for 4.2 and later. */
object SparkShims {

  def isStateful(node: LogicalPlan): Boolean = UnsupportedOperationChecker.isStatefulOperation(node)

  /** The names that users gave to sources. */
  def sourceNames(plan: LogicalPlan): Seq[String] = plan.collect {
    case source: HasStreamingSourceIdentifyingName => source.sourceIdentifyingName.nameOpt
  }.flatten

  def named(reader: DataStreamReader, name: String): DataStreamReader = reader.name(name)

  /** The entries of a family from `start` on; the family is ordered by its first columns, whole
    * numbers.
    */
  def entriesFrom(
      store: StateStore,
      start: Option[UnsafeRow],
      numbers: Int,
      family: String
  ): StateStoreIterator[UnsafeRowPair] = store.rangeScan(start, None, family)

  /** Whether `emptyStore` is supported. */
  val hasEmptyStores: Boolean = true

  /** An empty store at a version, regardless of the stored data; a commit writes the next version
    * as a snapshot.
    */
  def emptyStore(provider: StateStoreProvider, version: Long): StateStore =
    provider.getStore(version, loadEmpty = true)
}
