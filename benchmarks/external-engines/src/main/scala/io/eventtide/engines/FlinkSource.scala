package io.eventtide.engines

import java.lang.{Double => JavaDouble}
import java.util.concurrent.CompletableFuture
import java.util.{List => JavaList}

import FlinkSource._
import org.apache.flink.api.connector.source._
import org.apache.flink.api.java.tuple.Tuple2
import org.apache.flink.core.io.{InputStatus, SimpleVersionedSerializer}

/** Key and value of each event, with its time as Flink's timestamp; one split for each reader.
  *
  * Without checkpoints the enumerator has nothing to remember.
  */
final class FlinkSource(spec: Spec) extends Source[Event, Part, Void] {
  override def getBoundedness: Boundedness = Boundedness.BOUNDED

  override def createReader(context: SourceReaderContext): SourceReader[Event, Part] =
    new FlinkReader(spec)

  override def createEnumerator(
      context: SplitEnumeratorContext[Part]
  ): SplitEnumerator[Part, Void] = new FlinkParts(context)

  override def restoreEnumerator(
      context: SplitEnumeratorContext[Part],
      saved: Void
  ): SplitEnumerator[Part, Void] = new FlinkParts(context)

  override def getSplitSerializer: SimpleVersionedSerializer[Part] =
    new OneByte[Part](part => part.source.toByte, source => Part(source.toInt))

  override def getEnumeratorCheckpointSerializer: SimpleVersionedSerializer[Void] =
    new OneByte[Void](_ => 0, _ => null)
}

object FlinkSource {
  type Event = Tuple2[Integer, JavaDouble]

  /** The events of one source. */
  final case class Part(source: Int) extends SourceSplit {
    override def splitId: String = source.toString
  }

  /** A serializer of what fits into a byte. */
  final class OneByte[A](write: A => Byte, read: Byte => A) extends SimpleVersionedSerializer[A] {
    override def getVersion: Int = 1

    override def serialize(value: A): Array[Byte] = Array(write(value))

    override def deserialize(version: Int, bytes: Array[Byte]): A = read(bytes.head)
  }
}

/** Gives each reader, as it comes, the part of its own number. */
private final class FlinkParts(context: SplitEnumeratorContext[Part])
    extends SplitEnumerator[Part, Void] {
  override def start(): Unit = ()

  override def addReader(reader: Int): Unit = {
    context.assignSplit(Part(reader), reader)
    context.signalNoMoreSplits(reader)
  }

  override def handleSplitRequest(reader: Int, host: String): Unit = ()

  override def addSplitsBack(parts: JavaList[Part], reader: Int): Unit = ()

  override def snapshotState(checkpoint: Long): Void = null

  override def close(): Unit = ()
}

/** Hands out some events a call, in one object that is filled anew. */
private final class FlinkReader(spec: Spec) extends SourceReader[Event, Part] {
  private val assigned = new CompletableFuture[Void]
  private val event = new Event
  private var events: Events = _

  override def start(): Unit = ()

  override def pollNext(output: ReaderOutput[Event]): InputStatus =
    if (events == null) InputStatus.NOTHING_AVAILABLE else poll(output)

  private def poll(output: ReaderOutput[Event]): InputStatus = {
    var left = FlinkReader.PerCall
    while (left > 0 && events.next()) {
      event.f0 = events.key
      event.f1 = events.value
      output.collect(event, events.time)
      left -= 1
    }
    if (left > 0) InputStatus.END_OF_INPUT else InputStatus.MORE_AVAILABLE
  }

  override def isAvailable: CompletableFuture[Void] = assigned

  override def addSplits(parts: JavaList[Part]): Unit = {
    events = new Events(spec, parts.get(0).source)
    assigned.complete(null)
    ()
  }

  override def snapshotState(checkpoint: Long): JavaList[Part] = JavaList.of()

  override def notifyNoMoreSplits(): Unit = ()

  override def close(): Unit = ()
}

private object FlinkReader {
  final val PerCall = 16
}
