package io.eventtide.engines

import java.util.Properties

import com.hazelcast.core.Hazelcast
import com.hazelcast.function.FunctionEx
import com.hazelcast.jet.aggregate.AggregateOperations
import com.hazelcast.jet.datamodel.KeyedWindowResult
import com.hazelcast.jet.kafka.{KafkaSinks, KafkaSources}
import com.hazelcast.jet.pipeline.{Pipeline, StreamSource, WindowDefinition}
import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.serialization.{
  ByteArrayDeserializer,
  ByteArraySerializer,
  StringSerializer
}

/** One member of Hazelcast with Jet, which reads and writes Kafka, without snapshots. */
object JetLive {

  def run(topics: Topics, seconds: Long): Unit = {
    val config = JetEngine.config
    for (threads <- Seq("cooperative", "noncooperative")) {
      // threads without work look for it more often than they do by default
      config.setProperty(s"hazelcast.jet.idle.$threads.max.microseconds", "100")
    }
    Hazelcast.newHazelcastInstance(config).getJet.newJob(pipeline(topics, seconds)).join()
  }

  private def pipeline(topics: Topics, seconds: Long): Pipeline = {
    val pipeline = Pipeline.create()
    pipeline
      .readFrom(source(topics))
      .withTimestamps(_.time, 0)
      .setLocalParallelism(1) // the topic has one partition
      .groupingKey[Integer](_.key)
      .window(WindowDefinition.tumbling(seconds * 1000))
      .aggregate(AggregateOperations.counting[LiveRow]())
      .writeTo(KafkaSinks.kafka(sinkSettings(topics), record(topics.output)))
    pipeline
  }

  private def source(topics: Topics): StreamSource[LiveRow] = {
    val settings = new Properties
    settings.setProperty("bootstrap.servers", topics.servers)
    settings.setProperty("key.deserializer", classOf[ByteArrayDeserializer].getName)
    settings.setProperty("value.deserializer", classOf[ByteArrayDeserializer].getName)
    settings.setProperty("auto.offset.reset", "earliest")
    val row: FunctionEx[ConsumerRecord[Array[Byte], Array[Byte]], LiveRow] =
      record => LiveRow.parse(record.value)
    KafkaSources.kafka(settings, row, topics.input)
  }

  private def sinkSettings(topics: Topics): Properties = {
    val settings = new Properties
    settings.setProperty("bootstrap.servers", topics.servers)
    settings.setProperty("key.serializer", classOf[ByteArraySerializer].getName)
    settings.setProperty("value.serializer", classOf[StringSerializer].getName)
    settings.setProperty("linger.ms", "0")
    settings
  }

  private type Result = KeyedWindowResult[Integer, java.lang.Long]

  private def record(
      topic: String
  ): FunctionEx[Result, ProducerRecord[Array[Byte], String]] =
    result => {
      val value = LiveRow.format(result.start, result.key, result.result)
      new ProducerRecord[Array[Byte], String](topic, value)
    }
}
