package org.apache.spark.sql.eventtide

import com.codahale.metrics.{Gauge, MetricRegistry}
import org.apache.spark.SparkEnv
import org.apache.spark.metrics.MetricsSystem
import org.apache.spark.metrics.source.Source

/** Gauges in Spark's metrics system, available to its sinks such as the Prometheus servlet.
  *
  * Spark removes all metrics whose names begin with the name of a source. So no source name may be
  * a prefix of another source name.
  */
final class MetricsSource(override val sourceName: String, gauges: Seq[(String, () => Double)])
    extends Source {

  override val metricRegistry: MetricRegistry = new MetricRegistry

  gauges.foreach { case (name, value) =>
    val gauge: Gauge[Double] = () => value()
    metricRegistry.register(name, gauge)
  }

  /** Registers the source. Returns false if there is no metrics system or the name is already in
    * use.
    */
  def register(): Boolean = {
    val free = system.filter(_.getSourcesByName(sourceName).isEmpty)
    free.foreach(_.registerSource(this))
    free.isDefined
  }

  def remove(): Unit = system.foreach(_.removeSource(this))

  private def system: Option[MetricsSystem] = Option(SparkEnv.get).map(_.metricsSystem)
}
