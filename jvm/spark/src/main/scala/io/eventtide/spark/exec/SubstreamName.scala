package io.eventtide.spark.exec

import org.apache.spark.sql.catalyst.expressions.{Cast, Literal}
import org.apache.spark.sql.types.{DataType, StringType}

/** The name of a substream, from the text of its columns.
  *
  * One column is its own name, several are joined by `/`. A separator inside a value is escaped and
  * a null has a name that no text can have, so that two substreams never share one.
  */
private[spark] object SubstreamName {

  /** The one substream of a source that has no others. */
  val Whole = "all"

  private[exec] def of(types: Seq[DataType], key: Seq[Any]): String = {
    val parts = types.zip(key).map { case (kind, value) => part(kind, value) }
    if (parts.length == 1) parts.head else parts.map(_.replace("/", "\\/")).mkString("/")
  }

  private def part(kind: DataType, value: Any): String =
    if (value == null) "\\null" else text(kind, value).replace("\\", "\\\\")

  // As Spark writes it, by the same clock everywhere.
  private def text(kind: DataType, value: Any): String =
    Cast(Literal(value, kind), StringType, Some("UTC")).eval().toString
}
