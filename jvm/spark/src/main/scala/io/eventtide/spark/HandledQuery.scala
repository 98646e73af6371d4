package io.eventtide.spark

import org.apache.spark.sql.eventtide.FollowedStreamingQuery
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException}

import io.eventtide.spark.latelog.LateCompanion

/** A query and its companion as one query: it ends with both, and fails if either fails. Within a
  * call of the handler, it does not wait for the companion.
  */
private[spark] final class HandledQuery(main: StreamingQuery, companion: LateCompanion)
    extends FollowedStreamingQuery(main) {

  private def waits: Boolean = !LateHandler.isCalling.get

  override def isActive: Boolean = main.isActive || waits && !companion.isOver

  override def exception: Option[StreamingQueryException] =
    main.exception.orElse(companion.failure)

  override def awaitTermination(): Unit = {
    if (waits) companion.await()
    check()
    main.awaitTermination()
  }

  override def awaitTermination(timeoutMs: Long): Boolean =
    if (timeoutMs <= 0 || !waits) main.awaitTermination(timeoutMs) // Spark refuses zero
    else
      companion.await(timeoutMs) && {
        check()
        main.awaitTermination(timeoutMs)
      }

  override def processAllAvailable(): Unit = {
    main.processAllAvailable()
    if (waits) companion.catchUp()
    check()
  }

  override def stop(): Unit = {
    main.stop()
    if (waits) companion.await()
  }

  private def check(): Unit = companion.failure.foreach(throw _)
}
