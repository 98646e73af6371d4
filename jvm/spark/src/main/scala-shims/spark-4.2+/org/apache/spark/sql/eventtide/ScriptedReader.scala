package org.apache.spark.sql.eventtide

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead.RecordStatus

/** A reader in real-time mode whose wait for a row is ended by a script, and not by a timeout. */
trait ScriptedReader extends SupportsRealTimeRead[InternalRow] {

  /** Waits for the next row; false if Spark's batch has to end. */
  protected def awaitNext(): Boolean

  override def nextWithTimeout(startMs: java.lang.Long, timeoutMs: java.lang.Long): RecordStatus =
    RecordStatus.newStatusWithoutArrivalTime(awaitNext())
}
