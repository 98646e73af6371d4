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

/** What differs between the minor releases of Spark, as it is in 4.1. */
object SparkShims {

  private lazy val stateful = {
    val method = UnsupportedOperationChecker.getClass
      .getDeclaredMethod("isStatefulOperation", classOf[LogicalPlan])
    method.setAccessible(true) // private until 4.2
    method
  }

  def isStateful(node: LogicalPlan): Boolean =
    stateful.invoke(UnsupportedOperationChecker, node).asInstanceOf[Boolean]

  /** The names that users gave to sources: there are none yet. */
  def sourceNames(plan: LogicalPlan): Seq[String] = Nil

  def named(reader: DataStreamReader, name: String): DataStreamReader =
    throw new IllegalStateException(s"a source has no name in Spark 4.1: $name")

  /** The entries of a family that is in the order of its first columns, whole numbers, from an entry on.
    *
    * A scan begins at the first entry there is, or of the group where the first column identifies groups,
    * and steps over those before `start`.
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
