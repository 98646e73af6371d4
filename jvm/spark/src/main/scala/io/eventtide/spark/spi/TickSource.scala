package io.eventtide.spark.spi

/** A source that never has a row: its offset counts the batches that the clock has asked for. */
private[spark] trait TickSource
