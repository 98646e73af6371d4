package org.apache.spark.sql.eventtide

import com.codahale.metrics.{Gauge, MetricRegistry}
import org.apache.spark.SparkEnv
import org.apache.spark.metrics.MetricsSystem
import org.apache.spark.metrics.source.Source

/** Numbers in Spark's metric system, from where its sinks take them, as the Prometheus servlet does.
  *
  * Spark removes whatever begins with the name of a source: no name may be the beginning of another.
  */
final class MetricsSource(override val sourceName: String, gauges: Seq[(String, () => Double)])
    extends Source {

  override val metricRegistry: MetricRegistry = new MetricRegistry

  gauges.foreach { case (name, value) =>
    val gauge: Gauge[Double] = () => value()
    metricRegistry.register(name, gauge)
  }

  /** Whether it is there now, and not another one of that name. */
  def register(): Boolean = {
    val free = system.filter(_.getSourcesByName(sourceName).isEmpty)
    free.foreach(_.registerSource(this))
    free.isDefined
  }

  def remove(): Unit = system.foreach(_.removeSource(this))

  private def system: Option[MetricsSystem] = Option(SparkEnv.get).map(_.metricsSystem)
}
