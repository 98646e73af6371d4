package io.eventtide.spark.operators.watermark

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.eventtide.TimedRows

/** The rows of a task in real-time mode, with markers between them. A marker is sent to all
  * partitions: after the rows that it tells of, and before the rows that follow.
  *
  * Rows have their marker after a millisecond (later with many substreams), or directly if they
  * raise a highest time and the task has sent at least as many rows as markers.
  */
private[watermark] final class MarkedRows(
    child: Iterator[InternalRow],
    gate: SourceGate,
    markers: TimeMarkers,
    output: MarkedOutput
) extends Iterator[InternalRow] {
  import MarkedRows._

  private val input = new TimedRows(child)

  private var marker: Array[Byte] = _ // null while none is being sent
  private var partition = 0 // the partition to which the marker is sent next
  private var isDue = false // whether rows are waiting for their marker

  gate.open(listener)
  input.start()

  def hasNext: Boolean = {
    while (marker == null && !readyForRow()) ()
    marker != null || input.hasNext
  }

  def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    if (marker == null) output.row(input.next())
    else {
      val sent = output.marker(marker, partition)
      partition += 1
      if (partition == output.partitions) marker = null
      sent
    }
  }

  // Whether a row, or the end of the input, is there.
  private def readyForRow(): Boolean =
    if (input.await(if (isDue) markers.interval else LongestWait)) {
      val signal = input.takeSignal()
      if (signal != null) receive(signal)
      signal == null
    } else {
      if (isDue) gate.whileWaiting(if (!input.await(0)) receive(listener.takeNow()))
      false
    }

  private def receive(signal: AnyRef): Unit = signal match {
    case bytes: Array[Byte] =>
      marker = bytes
      partition = 0
      isDue = false
    case _ => isDue = signal eq Due
  }

  // On the thread that reads the source, or on this thread while the gate is held.
  private object listener extends SourceGate.Listener {
    private var takenAt = System.nanoTime
    private var hasRows = false
    private var isAnnounced = false
    private var spare = 0 // rows without a marker, minus the copies of markers

    override def beginRow(): Unit = {
      hasRows = true
      if (spare < output.partitions) spare += 1
    }

    override def endRow(): Unit = if (hasRows) {
      if (System.nanoTime - takenAt >= markers.interval * 1000 || isCheap && markers.isRaised)
        input.signal(takeNow())
      else if (!isAnnounced) {
        isAnnounced = true
        input.signal(Due)
      }
    }

    override def readAll(): Unit = input.signal(takeNow())

    def takeNow(): AnyRef = {
      hasRows = false
      isAnnounced = false
      takenAt = System.nanoTime
      spare -= output.partitions
      val taken = markers.take()
      if (taken == null) Nothing else taken
    }

    private def isCheap: Boolean = spare >= output.partitions
  }
}

private object MarkedRows {
  private val LongestWait = 1000000L

  private case object Due
  private case object Nothing
}
