package io.eventtide.spark.operators.window

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession

import io.eventtide.spark.operators.{BatchTime, WindowOperatorSpec}
import io.eventtide.spark.state.StoredState

/** Reads a window's state as of a committed batch, whether or not its query is running. */
private[spark] final case class StateReader(spec: WindowOperatorSpec, state: StoredState) {

  /** One row for each window that can still change. */
  def rows(session: SparkSession): RDD[InternalRow] = {
    val shown = BatchTime.EndOfInput.copy(isPeek = true)
    val task = WindowTaskSpec(spec, batchId = state.version - 1, shown)
    state.read(session, session.sessionState.conf) { store =>
      new StateWindowIterator(task, store).map(_.copy())
    }
  }
}
