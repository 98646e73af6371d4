package io.eventtide.engines

import com.hazelcast.function.SupplierEx
import com.hazelcast.jet.core.{
  AbstractProcessor,
  EventTimeMapper,
  EventTimePolicy,
  Processor,
  ProcessorMetaSupplier
}
import com.hazelcast.jet.pipeline.{Sources, StreamSource}
import com.hazelcast.jet.{Traverser, Traversers}

/** An event in Jet, which hands references from one thread to the next. */
final class JetEvent(val key: Integer, val value: Double) extends Serializable

/** A source of Jet's Core API: those of its `SourceBuilder` cannot end.
  *
  * Event times and watermarks go through Jet's own mapper. The clock is read once for each call,
  * not for each event.
  */
final class JetSource(spec: Spec, policy: EventTimePolicy[_ >: JetEvent])
    extends AbstractProcessor {
  private val mapper = new EventTimeMapper[JetEvent](policy)
  private var pending: Traverser[AnyRef] = Traversers.empty[AnyRef]()
  private var events: Events = _

  override protected def init(context: Processor.Context): Unit = {
    mapper.addPartitions(1)
    events = new Events(spec, context.globalProcessorIndex)
  }

  override def complete(): Boolean = {
    val now = System.nanoTime
    var more = true
    while (emitFromTraverser(pending) && more) {
      more = events.next()
      if (more) pending = mapper.flatMapEvent(now, event(), 0, events.time)
    }
    !more
  }

  private def event() = new JetEvent(events.key, events.value)
}

object JetSource {
  def apply(spec: Spec): StreamSource[JetEvent] =
    Sources.streamFromProcessorWithWatermarks[JetEvent](
      "events",
      true,
      policy => {
        val source: SupplierEx[Processor] = () => new JetSource(spec, policy)
        ProcessorMetaSupplier.of(Workload.Sources, source)
      }
    )
}
