package org.apache.spark.sql.eventtide

import org.apache.spark.sql.catalyst.expressions.{Alias, NamedExpression}
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.state.StateStoreCoordinatorRef

/** Access to the package-private parts of Spark that planning a stateful operator requires. */
object Planning {

  def stateCoordinator(session: SparkSession): StateStoreCoordinatorRef =
    session.streams.stateStoreCoordinator

  /** A grouping key normalized as by Spark: 0.0 and -0.0 are one group, and so are all NaNs. */
  def normalized(key: NamedExpression): NamedExpression =
    NormalizeFloatingNumbers.normalize(key) match {
      case same: NamedExpression => same
      case other => Alias(other, key.name)(key.exprId)
    }
}
