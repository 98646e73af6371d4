package io.eventtide.spark.repair

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{count, lit}

import io.eventtide.kernel.window.{LateRule, Profile}
import io.eventtide.spark.options.WindowConflicts.refuse
import io.eventtide.spark.planning.{ClassicSession, WindowRequest}

/** Corrects written results of a window with the late rows of its query.
  *
  *   - '''Guarantee:''' the windows of late rows are recomputed from all rows, so the result is
  *     correct for every aggregate; the other windows are unchanged.
  *   - '''Edges:''' a corrected session replaces all results of its key that it overlaps. Windows of
  *     which late rows alone do not determine the wrong ones are recomputed all, or refused.
  */
private[spark] object WindowRepair {

  /** @param results
    *   the final rows that the query has written
    * @param late
    *   late rows, with the columns of the window's input
    * @param source
    *   all rows, including late rows, of at least every window of a late row
    */
  def apply(
      results: DataFrame,
      late: DataFrame,
      window: WindowRequest,
      source: DataFrame
  ): DataFrame = {
    Seq("results" -> results, "late" -> late, "source" -> source).foreach { case (name, rows) =>
      if (rows.isStreaming) refuse(name, "", "is a stream", "a batch", "Read it as a batch")
    }
    val plain = finalResults(window)
    val recomputed = over(plain, source)
    checkColumns(results, recomputed.columns.toSeq)
    val spans = plain
      .copy(options = plain.options - "maximum_duration")
      .withColumns("aggregates", Seq(count(lit(1)).as("_eventtide_rows")))
    val isSession = plain.options.get("kind").contains("session")
    val keys = recomputed.columns.toSeq.slice(1, 1 + window.columns.getOrElse("keys", Nil).length)
    WindowCorrections(
      results,
      recomputed,
      over(spans, late),
      Option.when(isSession)(over(spans, source)),
      keys,
      if (isSession) plain.options.contains("maximum_duration") else mayMissSome(plain)
    ).corrected
  }

  private def over(window: WindowRequest, rows: DataFrame): DataFrame =
    window.over(ClassicSession.rows(rows))

  // Settings of a stream that a batch of final rows does not have.
  private val OfStreams = Set("scope", "key_idle_timeout", "key_idle_clock", "key_ttl") ++
    Set("heartbeat", "max_rows_per_batch", "late", "late_to", "late_retention", "late_updates") ++
    Set("discarding", "triggers", "every", "every_rows")

  /** The same window with final results only and without a watermark. */
  private def finalResults(window: WindowRequest): WindowRequest = {
    if (window.eventTime.isEmpty) {
      val allowed = "a window with eventTime(column)"
      refuse("window", "", "does not name its event time", allowed, "Name the event time")
    }
    val kind = window.options.getOrElse("kind", "")
    if (kind == "count" || kind == "storm") {
      val problem = "has windows that the time of a late row alone does not determine"
      val allowed = "tumbling, sliding or cumulate windows, and sessions"
      refuse("kind", kind, problem, allowed, "Repair time windows")
    }
    if (kind == "sliding" && mayMissSome(window)) {
      val problem =
        "may lack rows that are in no late log: a row for which only some windows are " +
          "closed is in the other windows"
      val allowed = "sliding windows under lateRule frame_closed or behind_watermark"
      refuse("kind", kind, problem, allowed, "Run the window over all rows as a batch")
    }
    window.copy(
      watermark = Map.empty,
      options = window.options -- OfStreams,
      columns = window.columns -- Seq("substream", "scope", "when")
    )
  }

  /** Whether a row that is not late may miss some of its windows. */
  private def mayMissSome(window: WindowRequest): Boolean = {
    val lengths = Seq("size", "slide", "step").flatMap(window.sizes.get).map(_.leastMicros)
    val named = window.options.get("profile").flatMap(name => Profile.all.find(_.name == name))
    val rule =
      window.options.getOrElse("late_rule", named.getOrElse(Profile.eventtide).lateRule.name)
    lengths.distinct.length > 1 && rule == LateRule.WindowClosed.name
  }

  private def checkColumns(results: DataFrame, columns: Seq[String]): Unit = {
    if (columns.contains(WindowCorrections.Changed)) {
      val problem = "is already a column of the window"
      refuse("alias", WindowCorrections.Changed, problem, "another name", "Use as('changes')")
    }
    if (results.columns.sorted.toSeq != columns.sorted) {
      val fix =
        if (!results.columns.contains("pane_index")) "Select these columns"
        else "Use the row with the highest pane_index of each window and key, without pane columns"
      val allowed = s"the final rows of the window, with the columns ${columns.mkString(", ")}"
      val value = results.columns.mkString(", ")
      refuse("results", value, "are not the columns of the window", allowed, fix)
    }
  }
}
