package io.eventtide.spark.latelog

import java.util.UUID
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch, TimeUnit}

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.eventtide.StreamExecutionAccess
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException}

import io.eventtide.spark.options.OptionReader

/** A companion: the query that passes the late rows of its main query to a handler.
  *
  * Each of its batches is one batch of the main query, so a completed call is not repeated. It ends
  * when the main query has ended and every call is complete. If a call fails, it ends at that call
  * and stops the main query.
  *
  * @param place
  *   the checkpoint location of the companion
  */
private[spark] final class LateCompanion private (
    private val main: StreamingQuery,
    companion: StreamingQuery,
    private val place: String
) extends Logging {
  private val ended = new CountDownLatch(1)
  @volatile private var isReplaced = false

  /** Whether both queries have ended. */
  def isOver: Boolean = ended.getCount == 0

  /** Waits until both queries have ended; returns false if the time is up before. */
  def await(timeoutMs: Long): Boolean = ended.await(timeoutMs, TimeUnit.MILLISECONDS)

  def await(): Unit = ended.await()

  /** The error that ended the companion; None while it runs, or if it ended with its main query. */
  def failure: Option[StreamingQueryException] = if (isReplaced) None else companion.exception

  /** Waits for the calls of all committed batches; if a call fails, until both queries have ended.
    */
  def catchUp(): Unit = {
    Try(companion.processAllAvailable()): Unit
    if (companion.exception.isDefined) ended.await()
  }

  private def begin(): Unit = {
    val name = companion.name
    val ending = daemon(s"end of $name") {
      Try(main.awaitTermination()): Unit // the main query itself reports its error
      Try(companion.processAllAvailable()): Unit
      Try(companion.stop()): Unit
    }
    daemon(name) {
      Try(companion.awaitTermination()): Unit
      if (failure.isDefined) Try(main.stop()): Unit
      ending.join()
      try LateHandlerQuery.release(main, failure.isDefined)
      catch { case NonFatal(failed) => logWarning(s"The checkpoint of $name stays", failed) }
      LateCompanion.remove(this)
      ended.countDown()
    }: Unit
  }

  private def daemon(name: String)(body: => Unit): Thread = {
    val thread = new Thread(() => body, name)
    thread.setDaemon(true)
    thread.start()
    thread
  }

  // This companion completes its present call and begins no other. Its successor makes the rest.
  private def replace(): Unit = {
    isReplaced = true
    LateCompanion.paused.add(place)
    try {
      Try(companion.processAllAvailable()): Unit
      Try(companion.stop()): Unit
      ended.await()
    } finally LateCompanion.paused.remove(place): Unit
  }
}

private[spark] object LateCompanion {
  private val byRun = new ConcurrentHashMap[UUID, LateCompanion]
  private val byPlace = new ConcurrentHashMap[String, LateCompanion]
  private val paused = ConcurrentHashMap.newKeySet[String]()

  /** The start of the checkpoint locations of a query's companions; the number of a window follows.
    */
  def folder(main: StreamingQuery): String =
    s"${StreamExecutionAccess.checkpointOf(main)}/eventtide/handler/"

  /** Ties a companion to its main query, whose checkpoint has the checkpoint of the companion. */
  def tie(main: StreamingQuery, companion: StreamingQuery): Unit = {
    val place = StreamExecutionAccess.checkpointOf(companion)
    if (!place.startsWith(folder(main)) || of(main).exists(!_.isOver))
      OptionReader.unknown("companion", place, s"a query with its checkpoint in ${folder(main)}")
    val tied = new LateCompanion(main, companion, place)
    byRun.put(main.runId, tied): Unit
    byPlace.put(place, tied): Unit
    tied.begin()
  }

  /** The companion of a run; None without one. */
  def of(main: StreamingQuery): Option[LateCompanion] = Option(byRun.get(main.runId))

  /** Ends the companion of an earlier run, so that another can continue its calls. */
  def replaceEarlier(place: String): Unit = Option(byPlace.get(place)).foreach(_.replace())

  /** Whether a companion must not begin another call. */
  def isPaused(place: String): Boolean = paused.contains(place)

  private def remove(ended: LateCompanion): Unit = {
    byPlace.remove(ended.place, ended): Unit
    byRun.remove(ended.main.runId, ended): Unit
  }
}
