package io.eventtide.spark.query.run

import scala.collection.mutable

import org.apache.spark.SparkContext
import org.apache.spark.broadcast.Broadcast

import io.eventtide.spark.operators.LatenessBounds

/** The lateness bounds of each window's keys in one run, and their broadcasts to the executors.
  *
  * Bounds are broadcast again when they change. The previous broadcast is removed from the
  * executors. The driver keeps it for some batches, for readers that still read results of an
  * earlier batch.
  */
private[query] final class BroadcastBounds(spark: SparkContext) {
  private var known = Map.empty[Int, LatenessBounds]
  private var sent = Map.empty[Int, Broadcast[Array[Long]]]
  private val retired = mutable.Queue.empty[Broadcast[Array[Long]]]

  private def of(window: Int): LatenessBounds = known.getOrElse(window, LatenessBounds.unknown)

  /** Broadcasts a window's bounds before the batch that is being planned. */
  def send(window: Int): Broadcast[Array[Long]] = synchronized {
    val broadcast = sent.getOrElse(window, spark.broadcast(of(window).words))
    sent += window -> broadcast
    broadcast
  }

  /** Takes the bounds that the windows' partitions reported after a batch. */
  def take(reported: Map[Int, Iterable[(Int, Array[Long])]]): Unit = synchronized {
    val changed = reported.filter(_._2.nonEmpty)
    for (broadcast <- changed.keys.flatMap(sent.get)) {
      broadcast.unpersist()
      retired.enqueue(broadcast)
    }
    while (retired.size > BroadcastBounds.Kept) retired.dequeue().destroy()
    sent --= changed.keys
    known ++= changed.map { case (window, reports) => window -> of(window).after(reports) }
  }
}

private object BroadcastBounds {

  // Each broadcast has up to a megabyte.
  private val Kept = 20
}
