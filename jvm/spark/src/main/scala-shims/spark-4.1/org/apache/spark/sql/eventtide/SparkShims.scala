package org.apache.spark.sql.eventtide

import org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.DataStreamReader
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreIterator,
  StateStoreProvider,
  UnsafeRowPair
}

/** The code that differs between minor releases of Spark, for 4.1. */
object SparkShims {

  private lazy val stateful = {
    val method = UnsupportedOperationChecker.getClass
      .getDeclaredMethod("isStatefulOperation", classOf[LogicalPlan])
    method.setAccessible(true) // private until 4.2
    method
  }

  def isStateful(node: LogicalPlan): Boolean =
    stateful.invoke(UnsupportedOperationChecker, node).asInstanceOf[Boolean]

  /** The names that users gave to sources. Spark 4.1 has no such names. */
  def sourceNames(plan: LogicalPlan): Seq[String] = Nil

  def named(reader: DataStreamReader, name: String): DataStreamReader =
    throw new IllegalStateException(s"a source has no name in Spark 4.1: $name")

  /** The entries of a family from `start` on; the family is ordered by its first columns, whole
    * numbers.
    *
    * A scan begins at the first entry, or at the first entry of the group if the first column
    * identifies groups. It skips the entries before `start`.
    */
  def entriesFrom(
      store: StateStore,
      start: Option[UnsafeRow],
      numbers: Int,
      family: String
  ): StateStoreIterator[UnsafeRowPair] = {
    val inGroup = start.filter(_ => numbers > 1).flatMap(GroupScan(store, _, family))
    val all = inGroup.getOrElse(store.iterator(family))
    def isBefore(entry: UnsafeRow, start: UnsafeRow): Boolean = {
      val differs = (0 until numbers).find(i => entry.getLong(i) != start.getLong(i))
      differs.exists(i => entry.getLong(i) < start.getLong(i))
    }
    start.fold(all) { first =>
      val until = first.copy()
      new StateStoreIterator(all.dropWhile(pair => isBefore(pair.key, until)), () => all.close())
    }
  }

  /** Whether `emptyStore` is supported. */
  val hasEmptyStores: Boolean = false

  def emptyStore(provider: StateStoreProvider, version: Long): StateStore =
    throw new IllegalStateException(s"a new store of Spark 4.1 begins at 0: $version of $provider")
}
