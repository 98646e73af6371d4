package io.eventtide.spark

import org.apache.spark.sql.eventtide.FollowedStreamingQuery
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException}

import io.eventtide.spark.latelog.LateCompanion

/** A query and its companion as one query: it ends with both, and fails if either fails. */
private[spark] final class HandledQuery(main: StreamingQuery, companion: LateCompanion)
    extends FollowedStreamingQuery(main) {

  override def isActive: Boolean = main.isActive || !companion.isOver

  override def exception: Option[StreamingQueryException] =
    main.exception.orElse(companion.failure)

  override def awaitTermination(): Unit = {
    companion.await()
    check()
    main.awaitTermination()
  }

  override def awaitTermination(timeoutMs: Long): Boolean =
    companion.await(timeoutMs) && {
      check()
      main.awaitTermination(timeoutMs)
    }

  override def processAllAvailable(): Unit = {
    main.processAllAvailable()
    companion.catchUp()
    check()
  }

  override def stop(): Unit = {
    main.stop()
    companion.await()
  }

  private def check(): Unit = companion.failure.foreach(throw _)
}
