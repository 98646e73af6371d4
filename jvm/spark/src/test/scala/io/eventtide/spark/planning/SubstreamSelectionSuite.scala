package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, EqualTo, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, SubqueryAlias}
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.types.{DataType, IntegerType, StringType, TimestampType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.options.SubstreamDescription

class SubstreamSelectionSuite extends AnyFunSuite {
  private def column(name: String, kind: DataType) = AttributeReference(name, kind)()

  private val topic = column("topic", StringType)
  private val partition = column("partition", IntegerType)
  private val time = column("timestamp", TimestampType)

  private def source(name: String): LogicalPlan = StreamingRelationV2(
    None,
    name,
    null, // the table is not looked at
    CaseInsensitiveStringMap.empty,
    Seq(time, topic, partition),
    None,
    None,
    None
  )

  private def names(choice: SubstreamSelection): Seq[String] = choice.keys.map(_.name)

  test("Kafka's substreams are its topic partitions") {
    val choice = SubstreamSelection.default(source("kafka"))
    assert(names(choice) == Seq("topic", "partition") && choice.label == SubstreamDescription.Kafka)
  }

  test("they are found under projections and filters, and carried up again") {
    val kafka = source("kafka")
    val narrowed = Project(Seq(time), Filter(EqualTo(topic, Literal("orders")), kafka))
    val choice = SubstreamSelection.default(narrowed)
    assert(names(choice) == Seq("topic", "partition"))
    assert(choice.plan.output.map(_.name) == Seq("timestamp", "topic", "partition"))
  }

  test("an alias above the source stays") {
    val plan = SubstreamSelection.default(SubqueryAlias("k", source("kafka"))).plan
    assert(plan.resolve(Seq("k", "timestamp"), plan.conf.resolver).isDefined)
  }

  test("a projection that keeps them is left as it is") {
    val kept = Project(Seq(partition, topic, time), source("kafka"))
    assert(SubstreamSelection.default(kept).plan == kept)
  }

  test("every other source is one substream") {
    val choice = SubstreamSelection.default(Project(Seq(time), source("rate")))
    assert(choice.keys.isEmpty && choice.label == SubstreamDescription.Global)
  }
}
