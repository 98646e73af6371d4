package io.eventtide.engines

import com.hazelcast.config.Config
import com.hazelcast.core.Hazelcast
import com.hazelcast.jet.datamodel.KeyedWindowResult
import com.hazelcast.jet.pipeline.{Pipeline, Sink, SinkBuilder, WindowDefinition}

/** One member of Hazelcast with Jet, without network and without snapshots. */
final class JetEngine(aggregate: JetAggregate[_]) extends Engine {
  private val member = Hazelcast.newHazelcastInstance(JetEngine.config)

  override def run(spec: Spec): Unit =
    member.getJet.newJob(pipeline(spec, aggregate)).join()

  override def close(): Unit = member.shutdown()

  private def pipeline[R](spec: Spec, aggregate: JetAggregate[R]): Pipeline = {
    val pipeline = Pipeline.create()
    pipeline
      .readFrom(JetSource(spec))
      .withNativeTimestamps(Workload.Lag)
      .groupingKey[Integer](_.key)
      .window(windows(spec))
      .aggregate(aggregate.operation)
      .writeTo(sink(spec, aggregate))
    pipeline
  }

  private def windows(spec: Spec): WindowDefinition =
    if (spec.tumbling) WindowDefinition.tumbling(spec.size * 1000L)
    else WindowDefinition.sliding(spec.size * 1000L, spec.slide * 1000L)

  private def sink[R](
      spec: Spec,
      aggregate: JetAggregate[R]
  ): Sink[KeyedWindowResult[Integer, R]] = {
    val collect = aggregate.collect
    SinkBuilder
      .sinkBuilder[Answers]("answers", _ => new Answers(spec))
      .receiveFn[KeyedWindowResult[Integer, R]] { (answers, window) =>
        collect.add(answers, window.end, window.key, window.result)
      }
      .destroyFn(answers => Run.current.sinkClosed(answers))
      .preferredLocalParallelism(Workload.Sources)
      .build()
  }
}

object JetEngine {

  private[engines] def config: Config = {
    val config = new Config
    config.setProperty("hazelcast.phone.home.enabled", "false")
    config.setProperty("hazelcast.logging.type", "none")
    config.setProperty("hazelcast.socket.bind.any", "false")
    val network = config.getNetworkConfig
    network.getInterfaces.setEnabled(true).addInterface("127.0.0.1")
    network.getJoin.getAutoDetectionConfig.setEnabled(false)
    network.getJoin.getMulticastConfig.setEnabled(false)
    config.getJetConfig.setEnabled(true).setCooperativeThreadCount(Workload.Sources)
    config
  }
}
