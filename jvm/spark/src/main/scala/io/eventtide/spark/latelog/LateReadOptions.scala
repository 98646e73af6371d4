package io.eventtide.spark.latelog

import java.util.UUID

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.eventtide.StreamExecutionAccess
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import io.eventtide.spark.options.OptionReader

/** The options of a read of a late log. All but `skipsMissing` apply to streams only.
  *
  * @param most
  *   the maximum number of the query's batches per trigger; None for all new batches
  * @param query
  *   the query that writes the log, which may be running in this driver
  * @param companion
  *   the checkpoint location of the companion that reads the stream; None for other readers
  * @param run
  *   the run of the query that has announced this companion
  * @param everyBatch
  *   whether new batches of the query make a trigger even if none of them has late rows
  * @param skipsMissing
  *   whether a read returns the rest if a part of the log is missing; otherwise it fails
  */
private[latelog] final case class LateReadOptions(
    most: Option[Int],
    query: Option[UUID],
    companion: Option[String],
    run: Option[String],
    everyBatch: Boolean,
    skipsMissing: Boolean
)

private[spark] object LateReadOptions {
  val Most = "maxBatchesPerTrigger"
  val Query = "query"
  val Companion = "companion"
  val Run = "run"
  val EveryBatch = "everyBatch"
  val Missing = "missing"

  def apply(options: CaseInsensitiveStringMap): LateReadOptions = {
    val texts =
      Seq(Most, EveryBatch, Missing).flatMap(name => Option(options.get(name)).map(name -> _))
    val checked = new OptionReader(texts.toMap)
    LateReadOptions(
      checked.count(Most, 1),
      Option(options.get(Query)).map(UUID.fromString),
      Option(options.get(Companion)),
      Option(options.get(Run)),
      checked.choice(EveryBatch, Seq("true" -> true, "false" -> false)).getOrElse(false),
      checked.choice(Missing, Seq("fail" -> false, "skip" -> true)).getOrElse(false)
    )
  }
}

/** Detects new commits of a query. While the query runs in this driver, its checkpoint is not read.
  */
private[latelog] final class QueryCommits(query: UUID) {
  private val session = SparkSession.active
  private var seen = Option.empty[AnyRef]

  /** True for the first call, and whenever there may be new commits since the previous call. */
  def hasNew(): Boolean = {
    val committed = StreamExecutionAccess.find(session, query).map(_.committed)
    val isNew = committed.isEmpty || !committed.exists(now => seen.exists(_ eq now))
    seen = committed
    isNew
  }
}
