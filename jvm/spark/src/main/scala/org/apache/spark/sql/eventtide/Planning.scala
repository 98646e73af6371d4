package org.apache.spark.sql.eventtide

import org.apache.spark.sql.catalyst.expressions.{Alias, NamedExpression}
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.state.StateStoreCoordinatorRef

/** What planning a stateful operator needs of Spark's package-private parts. */
object Planning {

  def stateCoordinator(session: SparkSession): StateStoreCoordinatorRef =
    session.streams.stateStoreCoordinator

  /** A grouping key as Spark makes it: 0.0 and -0.0 are one group, and so are all NaNs. */
  def normalized(key: NamedExpression): NamedExpression =
    NormalizeFloatingNumbers.normalize(key) match {
      case same: NamedExpression => same
      case other => Alias(other, key.name)(key.exprId)
    }
}
