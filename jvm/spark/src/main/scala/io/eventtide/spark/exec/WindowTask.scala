package io.eventtide.spark.exec

import org.apache.spark.sql.catalyst.expressions.Attribute

import io.eventtide.spark.state.FrameFamilies

/** What the tasks of one batch have to do.
  *
  * @param input
  *   the columns of the rows that come
  * @param passed
  *   the boundary up to which windows had closed before this batch
  * @param closing
  *   the boundary up to which windows close in this batch
  */
private[exec] final case class WindowTask(
    plan: WindowPlan,
    families: FrameFamilies,
    input: Seq[Attribute],
    batchId: Long,
    passed: Long,
    closing: Long
)
