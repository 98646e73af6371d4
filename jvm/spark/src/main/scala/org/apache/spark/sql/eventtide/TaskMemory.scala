package org.apache.spark.sql.eventtide

import org.apache.spark.TaskContext
import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager}
import org.apache.spark.sql.execution.metric.SQLMetric

/** Memory that a task may use on the heap, of what Spark lets all tasks have. */
final class TaskMemory private[eventtide] (manager: TaskMemoryManager)
    extends MemoryConsumer(manager, MemoryMode.ON_HEAP) {

  // The first pages of those to whom the rows go, who have to get theirs when we have all of ours.
  private val toSpare = 2 * manager.pageSizeBytes()

  /** Whether so many bytes more may be used. */
  def reserve(bytes: Long): Boolean = {
    val found = acquireMemory(bytes + toSpare)
    val isEnough = found == bytes + toSpare
    freeMemory(if (isEnough) toSpare else found)
    isEnough
  }

  // Who uses it gives its rows away when there is no more, and does so soon.
  override def spill(size: Long, trigger: MemoryConsumer): Long = 0
}

object TaskMemory {

  /** Opens memory of the present task, which has it until it ends.
    *
    * @param peak
    *   to which is added what was used
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
