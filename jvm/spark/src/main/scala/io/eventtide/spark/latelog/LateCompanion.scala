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
  * It is announced before it starts, and begins when it opens the late log. So a client that starts
  * it may disappear afterwards.
  *
  * @param place
  *   the checkpoint location of the companion
  */
private[spark] final class LateCompanion private (
    private val main: StreamingQuery,
    private val place: String
) extends Logging {
  private val ended = new CountDownLatch(1)
  @volatile private var run = Option.empty[StreamingQuery]
  @volatile private var isReplaced = false

  /** Whether both queries have ended. */
  def isOver: Boolean = ended.getCount == 0

  /** Waits until both queries have ended; returns false if the time is up before. */
  def await(timeoutMs: Long): Boolean = ended.await(timeoutMs, TimeUnit.MILLISECONDS)

  def await(): Unit = ended.await()

  /** The error that ended the companion; None while it runs, or if it ended with its main query. */
  def failure: Option[StreamingQueryException] =
    if (isReplaced) None else run.flatMap(_.exception)

  /** Waits for the calls of all committed batches; if a call fails, until both queries have ended.
    */
  def catchUp(): Unit = run.foreach { companion =>
    Try(companion.processAllAvailable()): Unit
    if (companion.exception.isDefined) ended.await()
  }

  private def begin(companion: StreamingQuery): Unit = synchronized {
    if (run.isEmpty && !isOver) {
      run = Some(companion)
      watch(companion)
    }
  }

  private def watch(companion: StreamingQuery): Unit = {
    val name = Option(companion.name).getOrElse(s"late rows in $place")
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
      end()
    }: Unit
  }

  private def end(): Unit = {
    LateCompanion.remove(this)
    ended.countDown()
  }

  private def daemon(name: String)(body: => Unit): Thread = {
    val thread = new Thread(() => body, name)
    thread.setDaemon(true)
    thread.start()
    thread
  }

  /** Ends a companion that has not begun, and returns whether this was so. */
  private def cancel(): Boolean = synchronized {
    if (run.isEmpty) end()
    run.isEmpty
  }

  // This companion completes its present call and begins no other. Its successor makes the rest.
  private def replace(): Unit = if (!cancel()) {
    isReplaced = true
    LateCompanion.paused.add(place)
    try {
      catchUp()
      run.foreach(companion => Try(companion.stop()))
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
  private def folder(main: StreamingQuery): String =
    s"${StreamExecutionAccess.checkpointOf(main)}/eventtide/handler/"

  /** Announces the companion of a window. The companion of an earlier run ends first, so that this
    * one continues its calls.
    *
    * @return
    *   the checkpoint location that the companion must have
    */
  def announce(main: StreamingQuery, window: Int): String = {
    val place = s"${folder(main)}$window"
    Option(byPlace.get(place)).foreach(_.replace())
    if (of(main).isDefined)
      OptionReader.unknown("companion", place, "one companion of a query")
    val announced = new LateCompanion(main, place)
    byRun.put(main.runId, announced): Unit
    byPlace.put(place, announced): Unit
    place
  }

  /** Ties an announced companion, which opens the late log on the current thread, to its main query.
    * Both belong to one session.
    */
  def opened(place: String, companion: StreamExecutionAccess): Unit =
    Option(byPlace.get(place))
      .filter(found => StreamExecutionAccess.ownerOf(found.main) == companion.owner)
      .filter(_ => companion.checkpointRoot == place)
      .foreach(_.begin(companion.asQuery))

  /** Waits until a started query is the companion of a query; throws the error that prevents it. A
    * companion that has begun and failed reports its error itself.
    */
  def awaitBegin(main: StreamingQuery, companion: StreamingQuery): Unit = {
    val opened = Try(StreamExecutionAccess.awaitSources(companion))
    val isPending = of(main).exists(_.run.isEmpty)
    if (isPending) opened.get
    val place = StreamExecutionAccess.checkpointOf(companion)
    if (isPending || !place.startsWith(folder(main)))
      OptionReader.unknown("companion", place, s"a query with its checkpoint in ${folder(main)}")
  }

  /** The companion of a run; None without one, and when both have ended. */
  def of(main: StreamingQuery): Option[LateCompanion] = Option(byRun.get(main.runId))

  /** Forgets the companion of a query if it has not begun. */
  def cancel(main: StreamingQuery): Unit = of(main).foreach(_.cancel())

  /** Whether a companion must not begin another call. */
  def isPaused(place: String): Boolean = paused.contains(place)

  private def remove(ended: LateCompanion): Unit = {
    byPlace.remove(ended.place, ended): Unit
    byRun.remove(ended.main.runId, ended): Unit
  }
}
