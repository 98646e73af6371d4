package io.eventtide.spark.spi

/** A source without rows, whose offset counts the batches that the clock has requested. */
private[spark] trait TickSource
