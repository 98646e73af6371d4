package io.eventtide.spark.operators.window

import org.apache.spark.sql.catalyst.expressions.BindReferences
import org.apache.spark.sql.catalyst.expressions.codegen.GeneratePredicate

import io.eventtide.spark.operators.WindowOperatorSpec
import io.eventtide.spark.state.{AggregateFunctions, BufferPool}

/** Whether a result, given as a buffer, meets the condition for early results; true without a
  * condition.
  */
private[window] final class TriggerCondition(
    plan: WindowOperatorSpec,
    calls: AggregateFunctions,
    buffers: BufferPool
) extends (Int => Boolean) {
  private val condition = plan.condition.map { condition =>
    GeneratePredicate.generate(BindReferences.bindReference(condition, plan.result.aggregates))
  }

  def apply(result: Int): Boolean =
    condition.forall(_.eval(calls.evaluate(buffers.row(result))))
}
