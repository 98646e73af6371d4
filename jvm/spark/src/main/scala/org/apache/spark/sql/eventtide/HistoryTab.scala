package org.apache.spark.sql.eventtide

import java.lang.{Boolean => JBoolean}
import java.util.{Collections, WeakHashMap}

import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent}
import org.apache.spark.sql.streaming.StreamingQueryListener
import org.apache.spark.status.KVUtils.KVIndexParam
import org.apache.spark.status.{AppHistoryServerPlugin, ElementTrackingStore, KVUtils}
import org.apache.spark.ui.SparkUI
import org.apache.spark.{SparkConf, SparkContext}

/** What a tab shows of a query, for the event log: the history server shows the last one of each.
  *
  * @param id
  *   the run of the query
  * @param json
  *   what the scripts of the tab draw
  */
final case class TabState(id: String, json: String) extends SparkListenerEvent

/** The last state of a query, in the history server's store. */
private[eventtide] final class StoredTabState(@KVIndexParam val id: String, val json: String)

/** A tab of the history server, made from the states in an application's event log. Spark finds its
  * subclass as a service.
  */
abstract class HistoryTab extends AppHistoryServerPlugin {

  /** The tab over the states of an application. */
  protected def content(states: () => Seq[TabState]): TabContent

  final override def createListeners(
      conf: SparkConf,
      store: ElementTrackingStore
  ): Seq[SparkListener] = Seq(new SparkListener {
    override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
      case TabState(id, json) => store.write(new StoredTabState(id, json))
      case _ => ()
    }
  })

  final override def setupUI(ui: SparkUI): Unit = {
    val store = ui.store.store
    def states = KVUtils.viewToSeq(store.view(classOf[StoredTabState])).map { one =>
      TabState(one.id, one.json)
    }
    if (store.count(classOf[StoredTabState]) > 0) ScriptedTab.add(ui, content(() => states))
  }
}

object HistoryTab {
  private val recorded = Collections.newSetFromMap(new WeakHashMap[SparkContext, JBoolean])

  /** Has the present states of the queries that run written to the event log, at most once in
    * `everyMs`. Does nothing if the application has no event log, or at a second call.
    */
  def record(
      context: SparkContext,
      everyMs: Long
  )(running: () => Seq[TabState], isRunning: String => Boolean): Unit =
    if (hasLog(context) && recorded.synchronized(recorded.add(context))) {
      context.addSparkListener(new TabRecorder(context, everyMs, running, isRunning))
    }

  /** Writes the last state of a query that has ended to the event log, if the application has one. */
  def recordEnd(context: SparkContext)(ended: => Option[TabState]): Unit =
    if (hasLog(context)) post(context, ended.toSeq, _ => true)

  // The last state in the log counts, so a query that has ended meanwhile is left out. The lock is
  // not held while states are made: that waits for the policies of a query.
  private[eventtide] def post(
      context: SparkContext,
      states: Seq[TabState],
      isValid: String => Boolean
  ): Unit = recorded.synchronized {
    states.filter(state => isValid(state.id)).foreach(context.listenerBus.post)
  }

  private def hasLog(context: SparkContext) =
    context.conf.getBoolean("spark.eventLog.enabled", defaultValue = false)
}

private final class TabRecorder(
    context: SparkContext,
    everyMs: Long,
    running: () => Seq[TabState],
    isRunning: String => Boolean
) extends SparkListener {
  private var nextMs = Long.MinValue

  override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
    case _: StreamingQueryListener.QueryProgressEvent if nowMs >= nextMs =>
      nextMs = nowMs + everyMs
      HistoryTab.post(context, running(), isRunning)
    case _ => ()
  }

  private def nowMs: Long = System.nanoTime() / 1000000
}
