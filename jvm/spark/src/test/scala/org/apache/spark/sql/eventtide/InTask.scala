package org.apache.spark.sql.eventtide

import org.apache.spark.{TaskContext, TaskContextImpl}
import org.scalatest.PrivateMethodTester

/** Work as in a task of Spark, which then ends. */
object InTask extends PrivateMethodTester {
  private val callbacks = PrivateMethod[java.util.Stack[_]](Symbol("onCompleteCallbacks"))

  def apply[T](work: => T): T = {
    val context = TaskContext.empty()
    TaskContext.setTaskContext(context)
    try work
    finally {
      context.markTaskCompleted(None)
      TaskContext.unset()
    }
  }

  /** How many listeners wait for the end of the task. */
  def listeners: Int =
    TaskContext.get().asInstanceOf[TaskContextImpl].invokePrivate(callbacks()).size
}
