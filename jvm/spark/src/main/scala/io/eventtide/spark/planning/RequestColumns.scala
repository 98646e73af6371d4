package io.eventtide.spark.planning

import org.apache.spark.sql.Column

import io.eventtide.spark.options.OptionReader

/** The columns of a request.
  *
  * @param when
  *   the condition of early results
  * @param gap
  *   the session gap of each row, if rows have different gaps
  * @param scope
  *   the columns that define the groups of keys
  */
private[planning] final case class RequestColumns(
    substream: Seq[Column],
    keys: Seq[Column],
    aggregates: Seq[Column],
    when: Option[Column],
    gap: Option[Column],
    scope: Seq[Column]
)

private[planning] object RequestColumns {
  private val Names = Seq("substream", "keys", "aggregates", "when", "gap", "scope")

  def read(lists: Map[String, Seq[Column]]): RequestColumns = {
    (lists.keySet -- Names).toSeq.sorted.headOption.foreach { name =>
      OptionReader.unknown("columns", name, Names.mkString(", "))
    }
    def list(name: String) = lists.getOrElse(name, Nil)
    def one(name: String) = list(name) match {
      case Seq() => None
      case Seq(column) => Some(column)
      case several => OptionReader.unknown(name, several.mkString(", "), "one column")
    }
    RequestColumns(
      list("substream"),
      list("keys"),
      list("aggregates"),
      one("when"),
      one("gap"),
      list("scope")
    )
  }
}
