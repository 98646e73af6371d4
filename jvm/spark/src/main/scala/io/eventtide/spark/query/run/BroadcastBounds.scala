package io.eventtide.spark.query.run

import scala.collection.mutable

import org.apache.spark.SparkContext
import org.apache.spark.broadcast.Broadcast

import io.eventtide.spark.operators.LatenessBounds

/** The bounds of the keys of each window in one run, and what of them is at the executors.
  *
  * They are sent when they are others. What was sent before leaves the executors, and stays with the
  * driver for some batches, for whoever still reads results of one.
  */
private[query] final class BroadcastBounds(spark: SparkContext) {
  private var known = Map.empty[Int, LatenessBounds]
  private var sent = Map.empty[Int, Broadcast[Array[Long]]]
  private val left = mutable.Queue.empty[Broadcast[Array[Long]]]

  private def of(window: Int): LatenessBounds = known.getOrElse(window, LatenessBounds.unknown)

  /** Those of a window, before the batch that is planned. */
  def send(window: Int): Broadcast[Array[Long]] = synchronized {
    val broadcast = sent.getOrElse(window, spark.broadcast(of(window).words))
    sent += window -> broadcast
    broadcast
  }

  /** Takes what the partitions of windows have reported after a batch. */
  def take(reported: Map[Int, Iterable[(Int, Array[Long])]]): Unit = synchronized {
    val changed = reported.filter(_._2.nonEmpty)
    for (broadcast <- changed.keys.flatMap(sent.get)) {
      broadcast.unpersist()
      left.enqueue(broadcast)
    }
    while (left.size > BroadcastBounds.Kept) left.dequeue().destroy()
    sent --= changed.keys
    known ++= changed.map { case (window, reports) => window -> of(window).after(reports) }
  }
}

private object BroadcastBounds {

  // Of up to a megabyte each.
  private val Kept = 20
}
