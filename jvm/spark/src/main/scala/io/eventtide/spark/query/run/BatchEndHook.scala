package io.eventtide.spark.query.run

import org.apache.spark.sql.execution.streaming.operators.stateful.{
  EventTimeStats => SparkEventTimeStats
}

/** Ends a batch from inside the getter of an accumulator.
  *
  * Spark calls nothing of ours between the last task of a batch and its commit, except that its watermark
  * tracker reads the accumulator of each watermark node. The first read ends the batch. The tracker reads
  * twice and the progress reporter again, so the answer is kept.
  */
private[run] final class BatchEndHook(batch: BatchWatermark, end: BatchEnd) {

  def stats: SparkEventTimeStats = {
    end.runIfSinkSkipped(
      batch
    ) // without the lock of `answer`: the tasks that it starts come here too
    answer
  }

  private lazy val answer: SparkEventTimeStats = end(batch)
}
