package io.eventtide.spark;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.lit;

import io.eventtide.spark.storm.Count;
import io.eventtide.spark.storm.StormWindow;
import io.eventtide.spark.storm.TupleWindow;
import io.eventtide.spark.testkit.Script;
import io.eventtide.spark.voltsp.WatermarkStrategy;
import io.eventtide.spark.voltsp.Windows;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;

/** A user's program in Java; JavaSuite runs it. */
public final class JavaUser {
  private JavaUser() {}

  // begin
  static WindowBuilder minutes(Dataset<Row> events) {
    WatermarkPolicy policy =
        WatermarkPolicy.limitingLagAndLull("2s", "30s").throttleByFrame(Duration.ofSeconds(1));
    WatermarkOptions options =
        WatermarkOptions.create().substream("device").substreamIdleTimeout(Duration.ofMinutes(5));
    return Eventtide.window(events)
        .eventTime("ts", policy, options)
        .keyBy("device")
        .tumbling(Duration.ofMinutes(1))
        .late("count")
        .agg(count(lit(1)).as("n"));
  }
  // end

  static WindowBuilder everything(Dataset<Row> events) {
    Map<String, WatermarkPolicy> rules = new LinkedHashMap<>();
    rules.put("eu-*", WatermarkPolicy.withFixedLag("1m"));
    rules.put("*", WatermarkPolicy.minOf(WatermarkPolicy.maxEventTime(), WatermarkPolicy.storm("1s")));
    WatermarkOptions options =
        WatermarkOptions.create().substream(col("device")).expected(List.of("eu-1", "us-1"));
    return Eventtide.window()
        .over(events)
        .eventTime("ts", WatermarkPolicy.bySubstream(rules), options)
        .keyBy(col("device"), col("site"))
        .session("5m")
        .maximumDuration("1h")
        .allowedLateness("1m")
        .emit(WindowTrigger.every("10s"), WindowTrigger.atWindowEnd())
        .lateUpdates()
        .agg(count(lit(1)).as("n"));
  }

  static WindowBuilder bolt(Dataset<Row> events) {
    StormWindow bolt =
        StormWindow.create()
            .withWindow(Count.of(3), Duration.ofSeconds(10))
            .withTimestampField("ts")
            .withLag(Duration.ofSeconds(5))
            .over(events)
            .groupBy("device");
    FlatMapFunction<TupleWindow, String> function =
        window -> List.of(window.key().getString(0) + window.getList().size()).iterator();
    return bolt.execute(function, Encoders.STRING());
  }

  static WindowBuilder hourly(Dataset<Row> events) {
    return Windows.tumblingTimeWindow()
        .withWindowSpan(Duration.ofHours(1))
        .withKeyExtractor("device")
        .withTimeConfigBuilder(
            builder ->
                builder
                    .withEventTimeExtractor("ts")
                    .withWatermarkStrategy(WatermarkStrategy.MAX_EVENT_TIME)
                    .withIdleTimeout("5m"))
        .withAggregateDefinition(builder -> builder.count())
        .withExceptionHandler((late, context) -> { late.show(); }, "log")
        .emit(WindowTrigger.atWindowEnd())
        .over(events);
  }

  static void countMinutes(SparkSession spark) {
    try (Script script =
        Script.create(
            spark, "ts timestamp, device string", rows -> minutes(rows).results())) {
      script.rows(
          RowFactory.create("2024-01-01 00:00:07", "a"),
          RowFactory.create("2024-01-01 00:01:03", "a"));
      Row window = RowFactory.create("2024-01-01 00:00:00", "2024-01-01 00:01:00");
      script.expect(RowFactory.create(window, "a", 1L)).expectWatermark("2024-01-01 00:01:01");
      QueryProgress progress = Eventtide.progress(script.streamingQuery()).get();
      if (progress.inputs().size() != 1) throw new AssertionError(progress);
      if (Eventtide.blame(script.streamingQuery()).isEmpty()) throw new AssertionError();
    }
  }
}
