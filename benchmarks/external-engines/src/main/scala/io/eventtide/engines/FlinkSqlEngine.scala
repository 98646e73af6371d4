package io.eventtide.engines

import java.lang.{Double => JavaDouble, Long => JavaLong}
import java.time.{Duration, LocalDateTime, ZoneOffset}

import org.apache.flink.api.common.eventtime.WatermarkStrategy
import org.apache.flink.api.common.typeinfo.{TypeInformation, Types}
import org.apache.flink.api.connector.sink2.{Sink, SinkWriter, WriterInitContext}
import org.apache.flink.configuration.Configuration
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment
import org.apache.flink.table.api.{DataTypes, Schema}
import org.apache.flink.types.Row

/** Windows by Flink's SQL in a local cluster, a new one for each run, without checkpoints. */
final class FlinkSqlEngine extends Engine {

  override def run(spec: Spec): Unit = {
    val cluster =
      StreamExecutionEnvironment.createLocalEnvironment(Workload.Sources, FlinkSqlEngine.settings)
    val tables = StreamTableEnvironment.create(cluster)
    tables.getConfig.set("table.local-time-zone", "UTC")
    val lag = Duration.ofMillis(Workload.Lag)
    val watermarks = WatermarkStrategy.forBoundedOutOfOrderness[FlinkSource.Event](lag)
    val events = cluster.fromSource(
      new FlinkSource(spec),
      watermarks,
      "events",
      FlinkSqlEngine.eventType
    )
    tables.createTemporaryView("events", events, FlinkSqlEngine.schema)
    tables.toDataStream(tables.sqlQuery(FlinkSqlEngine.query(spec))).sinkTo(new FlinkSink(spec))
    cluster.execute()
    ()
  }

  override def close(): Unit = ()
}

private object FlinkSqlEngine {

  def query(spec: Spec): String =
    s"""SELECT window_end, f0, COUNT(*), SUM(f1), MAX(f1)
       |FROM ${windows(spec)}
       |GROUP BY window_start, window_end, f0""".stripMargin

  private def windows(spec: Spec): String = {
    val lengths = (if (spec.tumbling) Seq(spec.size) else Seq(spec.slide, spec.size))
      .map(seconds => s"INTERVAL '$seconds' SECOND")
    val function = if (spec.tumbling) "TUMBLE" else "HOP"
    s"$function(TABLE events, DESCRIPTOR(ts), ${lengths.mkString(", ")})"
  }

  def eventType: TypeInformation[FlinkSource.Event] = Types.TUPLE(Types.INT, Types.DOUBLE)

  def schema: Schema = Schema
    .newBuilder()
    .column("f0", DataTypes.INT().notNull())
    .column("f1", DataTypes.DOUBLE().notNull())
    .columnByMetadata("ts", "TIMESTAMP_LTZ(3)", "rowtime", true)
    .watermark("ts", "SOURCE_WATERMARK()")
    .build()

  def settings: Configuration = {
    val settings = new Configuration
    settings.setString("state.backend.type", "hashmap")
    settings.setString("pipeline.object-reuse", "true")
    settings.setString("rest.address", "localhost")
    settings.setString("rest.bind-address", "localhost")
    settings.setString("rest.bind-port", "0")
    settings.setString("heartbeat.timeout", "10 min") // a busy machine is no reason to give up
    settings
  }
}

/** Adds each result to the answers of its writer. */
private final class FlinkSink(spec: Spec) extends Sink[Row] {
  override def createWriter(context: WriterInitContext): SinkWriter[Row] = new SinkWriter[Row] {
    private val answers = new Answers(spec)

    override def write(row: Row, context: SinkWriter.Context): Unit = answers.add(
      row.getFieldAs[LocalDateTime](0).toInstant(ZoneOffset.UTC).toEpochMilli,
      row.getFieldAs[Integer](1),
      row.getFieldAs[JavaLong](2),
      row.getFieldAs[JavaDouble](3),
      row.getFieldAs[JavaDouble](4)
    )

    override def flush(end: Boolean): Unit = ()

    override def close(): Unit = Run.current.sinkClosed(answers)
  }
}
