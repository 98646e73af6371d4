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

/** The name of a substream, from the text of its columns.
  *
  * One column is its own name; a backslash at its beginning is doubled, since a null is `\null`.
  * Several are joined by `/`, with a backslash before each separator and backslash in them. So no
  * two substreams share a name.
  */
private[spark] object SubstreamName {

  /** The one substream of a source that has no others. */
  val Whole = "all"

  /** The name over the columns of a row. */
  def expression(columns: Seq[Expression]): Expression = {
    // As Spark writes it, by the same clock everywhere.
    val texts = columns.map(Cast(_, StringType, Some("UTC")))
    def orNull(text: Expression)(name: Expression) = If(IsNull(text), Literal(Null), name)
    texts match {
      case Seq() => Literal(Whole)
      case Seq(one) =>
        orNull(one)(If(StartsWith(one, Literal("\\")), Concat(Seq(Literal("\\"), one)), one))
      case several =>
        val parts = several.map(text => orNull(text)(escaped(escaped(text, "\\"), "/")))
        Concat(parts.head +: parts.tail.flatMap(Seq(Literal("/"), _)))
    }
  }

  /** In place of a substream that is expected and has no name yet. No column's text has a bare backslash. */
  def placeholder(number: Int): String = s"$Expected$number"

  def isPlaceholder(name: String): Boolean = name.startsWith(Expected)

  private val Expected = "\\expected "

  private val Null = "\\null"

  private def escaped(text: Expression, mark: String): Expression =
    StringReplace(text, Literal(mark), Literal(s"\\$mark"))

  /** Names values of these types; made once, since to make it takes longer than many names. */
  def of(types: Seq[DataType]): Seq[Any] => String = {
    val columns = types.zipWithIndex.map { case (kind, i) => BoundReference(i, kind, true) }
    val name = expression(columns)
    key => name.eval(InternalRow.fromSeq(key)).toString
  }
}
