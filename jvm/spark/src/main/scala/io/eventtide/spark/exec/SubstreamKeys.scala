package io.eventtide.spark.exec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BindReferences.bindReferences
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  BoundReference,
  Cast,
  Expression,
  UnsafeProjection
}
import org.apache.spark.sql.types._

import io.eventtide.spark.EventtideException

/** What tells substreams apart, as raw values: only the first row of each is made into text.
  *
  * Two values with the same text, as two kinds of NaN have it, are one substream.
  */
private[exec] final class SubstreamKeys(
    input: Seq[Attribute],
    substream: Seq[Expression],
    maxSubstreams: Int
) extends Serializable {

  private val values = bindReferences(substream, input)
  private val texts = bindReferences(
    substream.map(Cast(_, StringType, Some("UTC")): Expression),
    input
  )

  def open(report: PartitionRows): SubstreamFinder = {
    lazy val asText = UnsafeProjection.create(texts) // its first use compiles it
    val discover: InternalRow => TimeExtremes = row => {
      val found = report.substream(SubstreamName.of(asText(row)))
      if (report.size > maxSubstreams)
        throw EventtideException("TOO_MANY_SUBSTREAMS", "max" -> maxSubstreams)
      found
    }
    values match {
      case Seq() => new OneSubstream(report.substream(SubstreamName.Whole))
      case Seq(BoundReference(ordinal, IntegerType, _)) => new ByInt(ordinal, discover)
      case Seq(BoundReference(ordinal, LongType, _)) => new ByLong(ordinal, discover)
      case Seq(BoundReference(ordinal, StringType, _)) => new ByText(ordinal, discover)
      case several => new ByRow(UnsafeProjection.create(several), discover)
    }
  }
}
