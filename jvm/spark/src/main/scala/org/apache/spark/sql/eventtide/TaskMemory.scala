package org.apache.spark.sql.eventtide

import org.apache.spark.TaskContext
import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager}
import org.apache.spark.sql.execution.metric.SQLMetric

/** On-heap execution memory of a task, acquired from Spark's memory manager. */
final class TaskMemory private[eventtide] (manager: TaskMemoryManager)
    extends MemoryConsumer(manager, MemoryMode.ON_HEAP) {

  // The first pages of downstream operators, which must still be available if this consumer has all
  // of its memory.
  private val toSpare = 2 * manager.pageSizeBytes()

  /** Reserves `bytes` more. Returns false, and reserves nothing, if they are not available. */
  def reserve(bytes: Long): Boolean = {
    val found = acquireMemory(bytes + toSpare)
    val isEnough = found == bytes + toSpare
    freeMemory(if (isEnough) toSpare else found)
    isEnough
  }

  // When no more memory is available, which is soon, the consumer emits its rows.
  override def spill(size: Long, trigger: MemoryConsumer): Long = 0
}

object TaskMemory {

  /** Opens a memory consumer for the current task; it is freed when the task completes.
    *
    * @param peak
    *   the metric to which the used memory is added
    */
  def open(peak: SQLMetric): TaskMemory = {
    val task = TaskContext.get()
    val memory = new TaskMemory(task.taskMemoryManager())
    task.addTaskCompletionListener[Unit] { context =>
      peak.add(memory.getUsed)
      context.taskMetrics().incPeakExecutionMemory(memory.getUsed)
      memory.freeMemory(memory.getUsed)
    }
    memory
  }
}
