package org.apache.spark.sql.eventtide

import com.codahale.metrics.{Gauge, MetricRegistry}
import org.apache.spark.SparkEnv
import org.apache.spark.metrics.source.Source

/** Numbers in Spark's metric system, from where its sinks take them, as the Prometheus servlet does. */
final class MetricsSource(override val sourceName: String, gauges: Seq[(String, () => Double)])
    extends Source {

  override val metricRegistry: MetricRegistry = new MetricRegistry

  gauges.foreach { case (name, value) =>
    val gauge: Gauge[Double] = () => value()
    metricRegistry.register(name, gauge)
  }

  def register(): Unit = Option(SparkEnv.get).foreach(_.metricsSystem.registerSource(this))

  def remove(): Unit = Option(SparkEnv.get).foreach(_.metricsSystem.removeSource(this))
}
