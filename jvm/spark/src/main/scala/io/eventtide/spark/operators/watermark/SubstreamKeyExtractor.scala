package io.eventtide.spark.operators.watermark

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, GenerateUnsafeProjection}
import org.apache.spark.sql.types._

import io.eventtide.kernel.watermark.EventTimeStats
import io.eventtide.spark.EventtideException
import io.eventtide.spark.spi.{PartitionEventTimeStats, SubstreamName}

/** Extracts the substream key of a row, as raw values; only the first row of each substream is
  * formatted as text.
  *
  * Values with the same text are one substream, for example two kinds of NaN.
  *
  * @param values
  *   the key, bound to the columns of the rows; empty if the stream is one substream
  */
private[watermark] final class SubstreamKeyExtractor(
    val values: Seq[Expression],
    maxSubstreams: Int
) extends Serializable {

  private val types = values.map(_.dataType)

  private val kind: Class[_ <: SubstreamLookup] = types match {
    case Seq() => classOf[SingleSubstreamLookup]
    case Seq(ByteType | ShortType | IntegerType | LongType | DateType | TimestampType) =>
      classOf[LongSubstreamLookup]
    case Seq(TimestampNTZType) => classOf[LongSubstreamLookup]
    case Seq(StringType) => classOf[StringSubstreamLookup]
    case _ => classOf[RowSubstreamLookup]
  }

  def open(report: PartitionEventTimeStats): SubstreamLookup = {
    val name = SubstreamName.of(types)
    val discover: Seq[Any] => EventTimeStats = key => {
      val found = report.substream(name(key))
      if (report.size > maxSubstreams)
        throw EventtideException("TOO_MANY_SUBSTREAMS", "max" -> maxSubstreams)
      found
    }
    if (kind == classOf[SingleSubstreamLookup])
      new SingleSubstreamLookup(report.substream(SubstreamName.Global))
    else if (kind == classOf[LongSubstreamLookup]) new LongSubstreamLookup(types.head, discover)
    else if (kind == classOf[StringSubstreamLookup]) new StringSubstreamLookup(discover)
    else new RowSubstreamLookup(types, discover)
  }

  def finderClass: String = kind.getName

  /** Java code that finds the substream of the current row: its statements, and the result. */
  def find(ctx: CodegenContext, finder: String): (String, String) =
    if (kind == classOf[SingleSubstreamLookup]) ("", s"$finder.rows()")
    else if (kind == classOf[RowSubstreamLookup]) {
      val key = GenerateUnsafeProjection.createCode(ctx, values)
      (key.code.toString, s"$finder.findRow(${key.value})")
    } else {
      val key = values.head.genCode(ctx)
      (key.code.toString, s"(${key.isNull} ? $finder.findNull() : $finder.find(${key.value}))")
    }
}
