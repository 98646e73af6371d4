package io.eventtide.spark.query.run

import org.apache.spark.sql.execution.streaming.operators.stateful.{
  EventTimeStats => SparkEventTimeStats
}

/** Ends a batch from inside the getter of an accumulator.
  *
  * Between the last task of a batch and its commit, Spark calls no Eventtide code except this
  * getter: its watermark tracker reads the accumulator of each watermark node. The first read ends
  * the batch. The tracker reads twice and the progress reporter once more, so the result is cached.
  */
private[run] final class BatchEndHook(batch: BatchWatermark, end: BatchEnd) {

  def stats: SparkEventTimeStats = {
    // Outside the lock of the lazy `answer`, because it runs the plan once more.
    end.runIfSinkSkipped(batch)
    answer
  }

  private lazy val answer: SparkEventTimeStats = end(batch)
}
