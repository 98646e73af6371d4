package io.eventtide.spark.connect

import java.util.Optional

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connect.planner.SparkConnectPlanner
import org.apache.spark.sql.connect.plugin.RelationPlugin
import org.sparkproject.connect.protobuf.{Any => ProtoAny}

/** Eventtide on a server of Spark Connect:
  * `spark.connect.extensions.relation.classes=io.eventtide.spark.connect.EventtideRelationPlugin`.
  *
  * Spark Connect asks each plugin about a message that it does not know. Only this class and its
  * package use Spark Connect's classes. Spark loads it by name, so a session without Spark Connect
  * never needs them.
  */
final class EventtideRelationPlugin extends RelationPlugin {

  override def transform(relation: Array[Byte], planner: SparkConnectPlanner): Optional[LogicalPlan] = {
    val any = ProtoAny.parseFrom(relation)
    if (any.getTypeUrl != ConnectMessage.TypeUrl) Optional.empty()
    else {
      val message = ConnectMessage.read(any.getValue, planner)
      Optional.of(ConnectAnswers.of(message, planner).getOrElse(message.request))
    }
  }
}
