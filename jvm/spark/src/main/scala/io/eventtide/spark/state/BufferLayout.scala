package io.eventtide.spark.state

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.node.ObjectNode
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction

/** The columns of one aggregate in a buffer, or the columns of its `MissingRows`.
  *
  * @param names
  *   the names of the aggregate as users write it; several names if Spark computes several
  *   aggregates as one
  * @param types
  *   the types of the columns
  * @param isMissingRows
  *   whether the columns record that the buffer has rows that the aggregate lacks
  */
private[spark] final case class BufferPart(
    names: Seq[String],
    types: Seq[String],
    isMissingRows: Boolean
) {

  /** Whether both belong to one aggregate, regardless of their types. */
  def isOf(other: BufferPart): Boolean = names.exists(other.names.contains)

  /** Whether both have the same content in the same form. */
  def fits(other: BufferPart): Boolean =
    isOf(other) && types == other.types && isMissingRows == other.isMissingRows
}

private[spark] object BufferPart {
  def of(function: AggregateFunction, names: Seq[String]): BufferPart = BufferPart(
    names,
    function.aggBufferAttributes.map(_.dataType.sql),
    function.isInstanceOf[MissingRows]
  )
}

/** The layout of the buffers in a window's state: a part for each aggregate, in order.
  *
  * @param bytes
  *   the length of a buffer; None if buffers have no fixed length
  * @param deducts
  *   whether the frames of sliding windows are combined by deducting
  */
private[spark] final case class BufferLayout(
    parts: Seq[BufferPart],
    bytes: Option[Int],
    deducts: Boolean
) {

  /** The number of columns. */
  def columns: Int = parts.map(_.types.length).sum

  /** The ordinal of the first column of each part. */
  def offsets: Seq[Int] = parts.scanLeft(0)(_ + _.types.length).init

  /** The layout as JSON. */
  def text: String = {
    val node = BufferLayout.mapper.createObjectNode().put("deducts", deducts)
    bytes.foreach(node.put("bytes", _))
    val array = node.putArray("parts")
    parts.foreach(write(_, array.addObject()))
    node.toString
  }

  private def write(part: BufferPart, node: ObjectNode): Unit = {
    val (names, types) = (node.putArray("names"), node.putArray("types"))
    part.names.foreach(names.add)
    part.types.foreach(types.add)
    if (part.isMissingRows) node.put("isMissingRows", true): Unit
  }
}

private[spark] object BufferLayout {
  private val mapper = new ObjectMapper()

  def read(text: String): BufferLayout = {
    val node = mapper.readTree(text)
    val parts = node.required("parts").elements.asScala.map { part =>
      BufferPart(
        texts(part.required("names")),
        texts(part.required("types")),
        part.path("isMissingRows").asBoolean
      )
    }
    BufferLayout(
      parts.toSeq,
      Option(node.get("bytes")).map(_.asInt),
      node.required("deducts").asBoolean
    )
  }

  private def texts(array: JsonNode): Seq[String] = array.elements.asScala.map(_.asText).toSeq
}
