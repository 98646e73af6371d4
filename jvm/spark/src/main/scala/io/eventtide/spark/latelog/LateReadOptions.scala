package io.eventtide.spark.latelog

import java.util.UUID

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.eventtide.StreamExecutionAccess
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import io.eventtide.spark.options.OptionReader

/** How a late log is read; the first two are for streams.
  *
  * @param most
  *   so many batches of the query at a time, at the most; all there are if there is none
  * @param query
  *   the query that writes the log, where it may be running in this driver
  * @param missing
  *   what to do when a part of the log is missing
  */
private[latelog] final case class LateReadOptions(
    most: Option[Int],
    query: Option[UUID],
    missing: LateMissing
)

private[latelog] object LateReadOptions {
  val Most = "maxBatchesPerTrigger"
  val Query = "query"
  val Missing = "missing"

  def apply(options: CaseInsensitiveStringMap): LateReadOptions = {
    val texts = Seq(Most, Missing).flatMap(name => Option(options.get(name)).map(name -> _))
    val checked = new OptionReader(texts.toMap)
    LateReadOptions(
      checked.count(Most, 1),
      Option(options.get(Query)).map(UUID.fromString),
      checked
        .choice(Missing, LateMissing.all.map(way => way.name -> way))
        .getOrElse(LateMissing.Fail)
    )
  }
}

/** Whether a query has committed something, without a look at its checkpoint while it runs. */
private[latelog] final class QueryCommits(query: UUID) {
  private val session = SparkSession.active
  private var seen = Option.empty[AnyRef]

  /** True at first, and whenever there may be more than at the call before. */
  def hasNew(): Boolean = {
    val committed = StreamExecutionAccess.find(session, query).map(_.committed)
    val isNew = committed.isEmpty || !committed.exists(now => seen.exists(_ eq now))
    seen = committed
    isNew
  }
}
