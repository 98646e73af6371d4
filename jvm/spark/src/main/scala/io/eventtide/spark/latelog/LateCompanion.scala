package io.eventtide.spark.latelog

import java.util.concurrent.{ConcurrentHashMap, CountDownLatch, TimeUnit}
import java.util.{Collections, UUID, WeakHashMap}

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.eventtide.StreamExecutionAccess
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException}

import io.eventtide.spark.checkpoint.WriteConflict
import io.eventtide.spark.options.OptionReader

/** A companion: the query that passes the late rows of its main query to a handler.
  *
  * Each of its batches is one batch of the main query, so a completed call is not repeated. It ends
  * when the main query has ended and every call is complete. If a call fails, it ends at that call
  * and stops the main query. If another run has taken over the checkpoint, that run's companion
  * makes the calls from then on.
  *
  * It is announced before it starts, and begins when it opens the late log. So a client that starts
  * it may disappear afterwards. A companion without an announcement ends with an error: it would
  * have no end.
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
  private var abandonedMs = Option.empty[Long]

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

  private def begin(companion: StreamingQuery): Boolean = synchronized {
    val isFirst = run.isEmpty && !isOver
    if (isFirst) {
      run = Some(companion)
      LateCompanion.begun.put(companion.runId, main.runId): Unit
      watch(companion)
    }
    isFirst
  }

  private def watch(companion: StreamingQuery): Unit = {
    val name = Option(companion.name).getOrElse(s"late rows in $place")
    val ending = daemon(s"end of $name") {
      Try(main.awaitTermination()): Unit // the main query itself reports its error
      if (main.exception.exists(WriteConflict.hasEnded)) isReplaced = true
      if (!isReplaced) Try(companion.processAllAvailable()): Unit
      Try(companion.stop()): Unit
    }
    daemon(name) {
      Try(companion.awaitTermination()): Unit
      if (failure.isDefined) Try(main.stop()): Unit
      ending.join()
      release()
      end()
    }: Unit
  }

  private def release(): Unit =
    try LateHandlerQuery.release(main, failure.isDefined)
    catch { case NonFatal(failed) => logWarning(s"The checkpoint of $place stays", failed) }

  // A client may disappear between the announcement and the start.
  private def forgetIfAbandoned(nowMs: Long): Unit = if (run.isEmpty && !main.isActive) {
    if (abandonedMs.isEmpty) abandonedMs = Some(nowMs)
    if (abandonedMs.exists(nowMs - _ > LateCompanion.PatienceMs) && cancel()) release()
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
  private def replace(): Unit = {
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
  private val PatienceMs = 10L * 60 * 1000
  private val paused = ConcurrentHashMap.newKeySet[String]()

  // The run of each companion, as long as Spark keeps the companion, and the run of its query.
  private val begun = Collections.synchronizedMap(new WeakHashMap[UUID, UUID])

  /** The start of the checkpoint locations of a query's companions; the number of a window follows.
    */
  private def folder(main: StreamingQuery): String =
    s"${StreamExecutionAccess.checkpointOf(main)}/eventtide/handler/"

  /** Announces the companion of a window. The companion of an earlier run ends first, so that this
    * one continues its calls. The companion of a query that runs is replaced only if it has not
    * begun, as after a failed start.
    *
    * @return
    *   the checkpoint location that the companion must have
    */
  def announce(main: StreamingQuery, window: Int): String = {
    forgetAbandoned(System.nanoTime() / 1000000)
    val place = s"${folder(main)}$window"
    if (of(main).exists(!_.cancel())) refuseSecond(place)
    Option(byPlace.get(place)).filterNot(_.cancel()).foreach { other =>
      if (other.main.isActive) refuseSecond(place)
      other.replace()
    }
    val announced = new LateCompanion(main, place)
    if (byRun.putIfAbsent(main.runId, announced) != null) refuseSecond(place)
    if (byPlace.putIfAbsent(place, announced) != null) {
      byRun.remove(main.runId, announced): Unit
      refuseSecond(place)
    }
    place
  }

  /** Forgets the announced companions that have not begun ten minutes after the first call of this
    * method since the end of their query.
    *
    * @param nowMs
    *   the time of a monotonic clock, in milliseconds
    */
  def forgetAbandoned(nowMs: Long): Unit = byRun.values.forEach(_.forgetIfAbandoned(nowMs))

  private def refuseSecond(place: String): Nothing =
    OptionReader.unknown("companion", place, "one companion of a query")

  /** Ties an announced companion, which opens the late log on the current thread, to its main query.
    * Both belong to one session. Refuses one that is not announced, or no longer.
    *
    * @param run
    *   the run of the main query that has announced the companion
    */
  def opened(place: String, run: Option[String], companion: StreamExecutionAccess): Unit = {
    val found = Option(byPlace.get(place))
      .filter(found => run.contains(found.main.runId.toString))
      .filter(found => StreamExecutionAccess.ownerOf(found.main) == companion.owner)
      .filter(_ => companion.checkpointRoot == place)
    if (!found.exists(_.begin(companion.asQuery)))
      OptionReader.unknown("companion", place, "companions that their query's run has announced")
  }

  /** Waits until a started query is the companion of a query; throws the error that prevents it. A
    * companion that has begun and failed reports its error itself.
    */
  def awaitBegin(main: StreamingQuery, companion: StreamingQuery): Unit = {
    val opened = Try(StreamExecutionAccess.awaitSources(companion))
    if (begun.get(companion.runId) != main.runId) {
      opened.get
      val place = StreamExecutionAccess.checkpointOf(companion)
      OptionReader.unknown("companion", place, s"a query with its checkpoint in ${folder(main)}")
    }
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
