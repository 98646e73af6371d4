package io.eventtide.baselines

import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** How many numbers a micro-batch has, and in how many partitions. */
private final case class Numbers(perBatch: Long, partitions: Int) {
  require(perBatch > 0, s"rowsPerBatch is $perBatch, but must be positive")
  require(partitions > 0, s"numPartitions is $partitions, but must be positive")

  /** The partitions of the batches from `start` until `end`, which are dealt as one. */
  def dealt(start: Long, end: Long): Seq[NumbersPartition] =
    (0 until partitions).map { index =>
      val step = Numbers.Block.toLong * partitions
      NumbersPartition(start * perBatch + index * Numbers.Block, end * perBatch, step)
    }
}

private object Numbers {

  /** Numbers that stay together. They are dealt in turn, so that what counts up with them, such as
    * event time, counts up in all partitions alike.
    */
  val Block = 1024

  def apply(options: CaseInsensitiveStringMap): Numbers =
    Numbers(options.getLong("rowsPerBatch", 0), options.getInt("numPartitions", 2))
}

/** Blocks of numbers below `end`: the first begins with `first`, each other `step` later. */
private final case class NumbersPartition(first: Long, end: Long, step: Long) extends InputPartition
