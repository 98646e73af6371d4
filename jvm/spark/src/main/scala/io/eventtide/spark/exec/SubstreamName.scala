package io.eventtide.spark.exec

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** The name of a substream, from the text of its columns.
  *
  * One column is its own name, several are joined by `/`. A separator inside a value is escaped and
  * a null has a name that no text can have, so that two substreams never share one.
  */
private[spark] object SubstreamName {

  /** The one substream of a source that has no others. */
  val Whole = "all"

  private[exec] def of(key: UnsafeRow): String =
    if (key.numFields == 1) part(key, 0)
    else (0 until key.numFields).map(joined(key, _)).mkString("/")

  private def joined(key: UnsafeRow, column: Int): String = part(key, column).replace("/", "\\/")

  private def part(key: UnsafeRow, column: Int): String =
    if (key.isNullAt(column)) "\\null" else key.getUTF8String(column).toString.replace("\\", "\\\\")
}
