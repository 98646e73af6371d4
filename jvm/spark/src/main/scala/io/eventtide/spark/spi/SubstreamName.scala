package io.eventtide.spark.spi

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  BoundReference,
  Cast,
  Concat,
  Expression,
  If,
  IsNull,
  Literal,
  StartsWith,
  StringReplace
}
import org.apache.spark.sql.types.{DataType, StringType}

/** The name of a substream, built from the text of its columns.
  *
  * The name of a single column is its text. A leading backslash is doubled, because a null is
  * `\null`. Several columns are joined by `/`, with a backslash before each separator and backslash
  * in their texts. So two substreams never share a name.
  */
private[spark] object SubstreamName {

  /** The name of the only substream of a source without substream columns. */
  val Global = "all"

  /** The name over the columns of a row. */
  def expression(columns: Seq[Expression]): Expression = {
    // In Spark's text format, with the same time zone everywhere.
    val texts = columns.map(Cast(_, StringType, Some("UTC")))
    def orNull(text: Expression)(name: Expression) = If(IsNull(text), Literal(Null), name)
    texts match {
      case Seq() => Literal(Global)
      case Seq(one) =>
        orNull(one)(If(StartsWith(one, Literal("\\")), Concat(Seq(Literal("\\"), one)), one))
      case several =>
        val parts = several.map(text => orNull(text)(escaped(escaped(text, "\\"), "/")))
        Concat(parts.head +: parts.tail.flatMap(Seq(Literal("/"), _)))
    }
  }

  /** The name of an expected substream without rows yet. No column's text starts with an
    * unescaped backslash.
    */
  def placeholder(number: Int): String = s"$Expected$number"

  def isPlaceholder(name: String): Boolean = name.startsWith(Expected)

  private val Expected = "\\expected "

  private val Null = "\\null"

  private def escaped(text: Expression, mark: String): Expression =
    StringReplace(text, Literal(mark), Literal(s"\\$mark"))

  /** Names values of these types. Reuse the function: creating it takes longer than many names. */
  def of(types: Seq[DataType]): Seq[Any] => String = {
    val columns = types.zipWithIndex.map { case (kind, i) => BoundReference(i, kind, true) }
    val name = expression(columns)
    key => name.eval(InternalRow.fromSeq(key)).toString
  }
}
