package io.eventtide.spark

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.eventtide.StreamExecutionAccess
import org.apache.spark.sql.streaming.StreamingQuery

import io.eventtide.spark.latelog.{LateCompanion, LateHandlerQuery, LateReadOptions}
import io.eventtide.spark.options.OptionReader

/** What a handler is told about its late rows.
  *
  * @param query
  *   the query of the rows; within the handler its methods do not wait for pending calls
  * @param batchId
  *   the batch of the query that read the rows, as in `_batch_id`; the same when the call is retried
  * @param reasons
  *   the number of rows by reason, as in `_reason`
  * @param checkpoint
  *   the checkpoint location of the query
  */
final case class LateContext(
    query: StreamingQuery,
    batchId: Long,
    reasons: Map[String, Long],
    checkpoint: String
) {

  /** The reasons, for Java. */
  def getReasons: JMap[String, Long] = reasons.asJava
}

/** A handler of late rows, which a companion calls; see `WindowBuilder.onLate`.
  *
  * @param logsErrors
  *   whether an error of the handler is logged; otherwise it stops the query
  */
private[spark] final case class LateHandler(
    call: (DataFrame, LateContext) => Unit,
    logsErrors: Boolean
) extends Logging {

  /** Starts the companion of a running query, unless it ended before it had a late log. */
  def follow(main: StreamingQuery, window: Int): StreamingQuery = {
    val checkpoint = StreamExecutionAccess.checkpointOf(main)
    LateHandlerQuery.follow(main, window) match {
      case None =>
        LateHandlerQuery.release(main, failed = false)
        main
      case Some(options) =>
        val tied = LateCompanion.of(main)
        val companion = LateHandlerQuery
          .read(main, options)
          .writeStream
          .foreachBatch((rows: DataFrame, _: Long) => take(rows, main, checkpoint))
          .queryName(s"late rows of ${Option(main.name).getOrElse(main.id)}")
          .option("checkpointLocation", options(LateReadOptions.Companion))
          .start()
        LateCompanion.awaitBegin(main, companion)
        tied.fold[StreamingQuery](main)(new HandledQuery(main, _))
    }
  }

  private def take(rows: DataFrame, main: StreamingQuery, checkpoint: String): Unit = {
    val counted = rows.groupBy("_batch_id", "_reason").count().collect()
    val reasons = counted.map(row => row.getString(1) -> row.getLong(2)).toMap
    counted.map(_.getLong(0)).distinct.foreach { batchId => // at most one batch
      call(rows, main, LateContext(main, batchId, reasons, checkpoint))
    }
  }

  private def call(rows: DataFrame, main: StreamingQuery, context: LateContext): Unit =
    try {
      LateHandler.isCalling.set(true)
      call(rows, context)
    } catch {
      case NonFatal(error) =>
        val failed = EventtideException(
          "LATE_HANDLER_FAILED",
          "batch" -> context.batchId,
          "query" -> main.id,
          "error" -> error
        )
        failed.initCause(error)
        if (logsErrors) logError(failed.problem, error) else throw failed
    } finally LateHandler.isCalling.remove()
}

private[spark] object LateHandler {
  private val OnError = Seq("fail" -> false, "log" -> true)

  /** A handler and the choice for its errors, which has this name in messages. */
  def apply(
      choice: String,
      call: (DataFrame, LateContext) => Unit,
      onError: String
  ): LateHandler = {
    val logs = new OptionReader(Map(choice -> onError)).choice(choice, OnError)
    new LateHandler(call, logs.getOrElse(false))
  }

  /** Whether this thread is in a call of a handler: it must not wait for its own end. */
  val isCalling: ThreadLocal[Boolean] = ThreadLocal.withInitial[Boolean](() => false)
}
