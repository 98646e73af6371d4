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

  /** Has `states` written to the event log: while queries run at most once in `everyMs`, and when a
    * query has ended. Does nothing if the application has no event log, or at a second call.
    *
    * @param states
    *   the present states of all queries
    */
  def record(context: SparkContext, everyMs: Long)(states: () => Seq[TabState]): Unit =
    if (
      context.conf.getBoolean("spark.eventLog.enabled", defaultValue = false) &&
      recorded.synchronized(recorded.add(context))
    ) context.addSparkListener(new TabRecorder(context, everyMs, states))
}

private final class TabRecorder(context: SparkContext, everyMs: Long, states: () => Seq[TabState])
    extends SparkListener {
  private var nextMs = Long.MinValue

  override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
    case _: StreamingQueryListener.QueryProgressEvent if nowMs >= nextMs => write()
    case _: StreamingQueryListener.QueryTerminatedEvent => write()
    case _ => ()
  }

  private def nowMs: Long = System.nanoTime() / 1000000

  private def write(): Unit = {
    nextMs = nowMs + everyMs
    states().foreach(context.listenerBus.post)
  }
}
