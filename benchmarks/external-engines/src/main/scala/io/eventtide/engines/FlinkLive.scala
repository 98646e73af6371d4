package io.eventtide.engines

import java.lang.{Iterable => JavaIterable, Long => JavaLong}
import java.time.Duration

import org.apache.flink.api.common.eventtime._
import org.apache.flink.api.common.functions.AggregateFunction
import org.apache.flink.api.common.serialization.{AbstractDeserializationSchema, SimpleStringSchema}
import org.apache.flink.api.common.typeinfo.Types
import org.apache.flink.api.java.tuple.Tuple2
import org.apache.flink.connector.kafka.sink.{KafkaRecordSerializationSchema, KafkaSink}
import org.apache.flink.connector.kafka.source.KafkaSource
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment
import org.apache.flink.streaming.api.functions.windowing.WindowFunction
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows
import org.apache.flink.streaming.api.windowing.windows.TimeWindow
import org.apache.flink.util.Collector

/** Flink's DataStream API in a local cluster, which reads and writes Kafka, without checkpoints. */
object FlinkLive {
  type Row = Tuple2[JavaLong, Integer]

  def run(topics: Topics, seconds: Long): Unit = {
    val settings = FlinkSqlEngine.settings
    settings.setString("execution.buffer-timeout.interval", "0 ms") // rows leave at once
    val cluster = StreamExecutionEnvironment.createLocalEnvironment(1, settings)
    cluster
      .fromSource(source(topics), watermarks, "rows", Types.TUPLE[Row](Types.LONG, Types.INT))
      .keyBy((row: Row) => row.f1, Types.INT)
      .window(TumblingEventTimeWindows.of(Duration.ofSeconds(seconds)))
      .aggregate(new LiveCount, new LiveResult, Types.LONG, Types.STRING)
      .sinkTo(sink(topics))
    cluster.execute()
    ()
  }

  private def source(topics: Topics): KafkaSource[Row] = KafkaSource
    .builder[Row]()
    .setBootstrapServers(topics.servers)
    .setTopics(topics.input)
    .setStartingOffsets(OffsetsInitializer.earliest())
    .setValueOnlyDeserializer(new LiveSchema)
    .build()

  private def sink(topics: Topics): KafkaSink[String] = {
    val values = KafkaRecordSerializationSchema
      .builder[String]()
      .setTopic(topics.output)
      .setValueSerializationSchema[String](new SimpleStringSchema)
      .build()
    KafkaSink
      .builder[String]()
      .setBootstrapServers(topics.servers)
      .setProperty("linger.ms", "0")
      .setRecordSerializer(values)
      .build()
  }

  private def watermarks: WatermarkStrategy[Row] = WatermarkStrategy
    .forGenerator[Row](_ => new EveryMillisecond)
    .withTimestampAssigner((row: Row, _: Long) => row.f0)
}

/** A watermark with the first row of each millisecond: Flink's own come each 200 ms by default. */
private final class EveryMillisecond extends WatermarkGenerator[FlinkLive.Row] {
  private var last = Long.MinValue

  override def onEvent(row: FlinkLive.Row, time: Long, output: WatermarkOutput): Unit =
    if (time > last) {
      last = time
      output.emitWatermark(new Watermark(time - 1))
    }

  override def onPeriodicEmit(output: WatermarkOutput): Unit = ()
}

private final class LiveSchema
    extends AbstractDeserializationSchema[FlinkLive.Row](
      Types.TUPLE[FlinkLive.Row](Types.LONG, Types.INT)
    ) {
  override def deserialize(value: Array[Byte]): FlinkLive.Row = {
    val row = LiveRow.parse(value)
    Tuple2.of(row.time, row.key)
  }
}

private final class LiveCount extends AggregateFunction[FlinkLive.Row, JavaLong, JavaLong] {
  override def createAccumulator(): JavaLong = 0L

  override def add(row: FlinkLive.Row, count: JavaLong): JavaLong = count + 1

  override def getResult(count: JavaLong): JavaLong = count

  override def merge(one: JavaLong, other: JavaLong): JavaLong = one + other
}

private final class LiveResult extends WindowFunction[JavaLong, String, Integer, TimeWindow] {
  override def apply(
      key: Integer,
      window: TimeWindow,
      counts: JavaIterable[JavaLong],
      results: Collector[String]
  ): Unit = results.collect(LiveRow.format(window.getStart, key, counts.iterator.next()))
}
