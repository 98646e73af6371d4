package io.eventtide.spark.checkpoint

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.hadoop.fs.Path

/** The location of the state of a query's windows after a repartitioning, and its number of
  * partitions.
  *
  * Before a repartitioning, the state is in Spark's folder `state`, in the initial partitions of
  * the query.
  *
  * @param folder
  *   the name of the folder in `<checkpoint>/eventtide/state`
  * @param count
  *   the number of partitions of each window that has keys
  * @param firstBatch
  *   the first batch that reads the repartitioned state
  * @param ids
  *   the ids of the state store checkpoints that the first batch reads, by operator and partition;
  *   empty for checkpoint format 1
  */
private[spark] final case class StatePartitions(
    folder: Long,
    count: Int,
    firstBatch: Long,
    ids: Map[Long, Seq[String]]
) {

  /** The folder of the state. */
  def path(root: Path): Path = new Path(root, s"${StatePartitions.Folder}/$folder")

  /** The ids that a batch reads, by operator; empty if Spark's commit log has them. */
  def idsFor(batchId: Long): Map[Long, Array[Array[String]]] =
    if (batchId != firstBatch) Map.empty
    else ids.map { case (operator, ofPartitions) => operator -> ofPartitions.map(Array(_)).toArray }

  private[checkpoint] def json: String = {
    val node = StatePartitions.mapper.createObjectNode()
    node.put("folder", folder).put("partitions", count).put("firstBatch", firstBatch)
    val byOperator = node.putObject("ids")
    ids.toSeq.sortBy(_._1).foreach { case (operator, ofPartitions) =>
      val array = byOperator.putArray(operator.toString)
      ofPartitions.foreach(array.add)
    }
    node.toString
  }
}

private[spark] object StatePartitions {

  /** The folder of a checkpoint that has the state of each repartitioning. */
  val Folder = "eventtide/state"

  private val mapper = new ObjectMapper()

  private[checkpoint] def read(json: String): StatePartitions = {
    val node = mapper.readTree(json)
    val ids = node.required("ids").properties.asScala.map { entry =>
      entry.getKey.toLong -> entry.getValue.elements.asScala.map(_.asText).toSeq
    }
    StatePartitions(
      node.required("folder").asLong,
      node.required("partitions").asInt,
      node.required("firstBatch").asLong,
      ids.toMap
    )
  }
}
