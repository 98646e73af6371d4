package org.apache.spark.sql.eventtide

import scala.collection.mutable

import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.streaming.state.{StateStoreIterator, UnsafeRowPair}

/** The scans of a state store in a task of real-time mode, which makes them as long as it runs.
  *
  * Spark's RocksDB adds a listener to the task for each scan, which stays until the task ends.
  * Therefore these scans are opened without a task. One listener closes those that are left open,
  * before the listeners of the store release it: the last listener is called first.
  */
final class TaskScans {
  private val context = TaskContext.get()
  private val unclosed = mutable.Set.empty[StateStoreIterator[UnsafeRowPair]]

  context.addTaskCompletionListener[Unit](_ => unclosed.foreach(_.close())): Unit

  def open(scan: => StateStoreIterator[UnsafeRowPair]): StateStoreIterator[UnsafeRowPair] = {
    TaskContext.unset()
    val found =
      try scan
      finally TaskContext.setTaskContext(context)
    unclosed += found
    new StateStoreIterator(found, () => close(found))
  }

  private def close(scan: StateStoreIterator[UnsafeRowPair]): Unit = {
    unclosed -= scan
    scan.close()
  }
}
