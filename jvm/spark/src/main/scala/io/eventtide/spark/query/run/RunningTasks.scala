package io.eventtide.spark.query.run

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerExecutorMetricsUpdate}

/** Receives the reports of tasks that still run, with the heartbeats of their executors. In real-time
  * mode a batch lasts for minutes, and the query's reports must not wait for its end.
  */
private[run] final class RunningTasks private (run: RunState) extends SparkListener {

  override def onExecutorMetricsUpdate(update: SparkListenerExecutorMetricsUpdate): Unit =
    run.guarded {
      val heard = for {
        batch <- run.locked(run.planned).toSeq
        (_, _, _, accumulators) <- update.accumUpdates
        accumulator <- accumulators
        value <- accumulator.update
      } yield batch.hear(accumulator.id, value)
      if (heard.contains(true)) run.publish()
    }
}

private[run] object RunningTasks {

  /** Adds a listener for a run. */
  def listen(context: SparkContext, run: RunState): RunningTasks = {
    val listener = new RunningTasks(run)
    context.addSparkListener(listener)
    listener
  }
}
