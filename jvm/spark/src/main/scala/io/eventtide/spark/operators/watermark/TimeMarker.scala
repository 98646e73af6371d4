package io.eventtide.spark.operators.watermark

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}

import scala.collection.mutable

import io.eventtide.kernel.SavedText
import io.eventtide.kernel.watermark.EventTimeStats
import io.eventtide.spark.spi.BatchEventTimeStats

/** What the rows between two markers tell about event time, as it travels in the stream: the highest
  * and lowest time and the number of rows, by input of the query and by substream.
  */
private[spark] object TimeMarker {

  /** The rows between two markers, by the position of their input. */
  def read(marker: Array[Byte]): Map[Int, BatchEventTimeStats] = {
    val in = new DataInputStream(new ByteArrayInputStream(marker))
    val inputs = mutable.HashMap.empty[Int, mutable.HashMap[String, EventTimeStats]]
    while (in.available > 0) {
      val substreams = inputs.getOrElseUpdate(in.readInt(), mutable.HashMap.empty)
      val rows = new EventTimeStats
      val name = SavedText.read(in)
      rows.restore(in)
      substreams(name) = rows
    }
    inputs.map { case (position, substreams) =>
      position -> BatchEventTimeStats(substreams, badTime = 0, future = 0)
    }.toMap
  }
}

/** Makes the markers of a task.
  *
  * @param inputs
  *   the position of each input in the plan, with the accumulator of its rows
  */
private[watermark] final class TimeMarkers(inputs: Seq[(Int, SubstreamStatsAccum)])
    extends Serializable {
  @volatile private var known = 0 // substreams

  /** The time between two markers, in microseconds. Each task of the window looks at all substreams
    * for each marker, so markers are fewer if there are many substreams.
    */
  def interval: Long = 1000 + known / 10

  /** Takes the rows since the last marker; null if there were none. */
  def take(): Array[Byte] = {
    val buffer = new ByteArrayOutputStream
    val out = new DataOutputStream(buffer)
    var size = 0
    for {
      (position, rows) <- inputs
      partition <- rows.reports
    } {
      size += partition.size
      partition.takeRecent { (name, recent) =>
        out.writeInt(position)
        SavedText.write(out, name)
        recent.save(out)
      }
    }
    known = size
    if (buffer.size == 0) null else buffer.toByteArray
  }

  /** Whether the rows since the last marker have raised the highest time of a substream, in whole
    * milliseconds as the watermark. False for tasks with many substreams, where it costs too much.
    */
  def isRaised: Boolean = inputs.exists(_._2.reports.exists(_.isRaised))
}
