package io.eventtide.spark.options

/** The aggregates of one window in the runs on a checkpoint.
  *
  * @param added
  *   the aggregates of the last run that an earlier run did not have, as `listed`
  */
private[spark] final case class AggregateHistory(added: Set[String]) {

  /** Whether rows of earlier runs are not in the aggregate of this name. */
  def isAdded(name: String): Boolean = added.contains(AggregateHistory.listed(name))
}

/** The aggregates in the structure of a window. If the state has a buffer for each of them, they
  * may change from run to run. If the state has rows, they must stay the same, and so must the
  * columns.
  */
private[spark] object AggregateHistory {
  private val Names = "agg"
  private val Added = "agg_added"
  private val Columns = "columns"
  private val Separator = "; "
  private val Nothing = "none"

  /** The settings of a window with these aggregates.
    *
    * @param columns
    *   the columns of rows in the state; None if the state has no rows
    */
  def settings(names: Seq[String], columns: Option[Seq[String]]): Seq[(String, String)] =
    list(Names, names.map(listed)).toSeq ++ columns.map(Columns -> _.mkString(", "))

  /** A name without the separator of a list. */
  private def listed(name: String): String = name.replace("\\", "\\\\").replace("; ", ";\\ ")

  private def list(setting: String, names: Seq[String]): Option[(String, String)] =
    Option.when(names.nonEmpty)(setting -> names.distinct.mkString(Separator))

  private def names(window: Structure, setting: String): Seq[String] =
    window.get(setting).toSeq.flatMap(_.split(Separator))

  /** The history of a window of a checkpoint; None if its aggregates have never changed. */
  def of(window: Structure): Option[AggregateHistory] =
    Option.when(window.get(Added).isDefined)(AggregateHistory(names(window, Added).toSet))

  /** A window without its history. */
  def presentOf(window: Structure): Structure = window.without(Added)

  /** The part of a window that no run may change. */
  def lastingOf(window: Structure): Structure =
    if (window.get(Columns).isEmpty) presentOf(window).without(Names) else window

  /** The history of a window of a run on the state of `stored`. */
  def after(stored: Structure, window: Structure): Option[(String, String)] =
    if (stored.get(Names) == window.get(Names)) stored.get(Added).map(Added -> _)
    else {
      val before = names(stored, Names).diff(names(stored, Added))
      list(Added, names(window, Names).diff(before)).orElse(Some(Added -> Nothing))
    }

  /** The differences between the aggregates of `stored` and of `window`, in words. */
  def changes(stored: Structure, window: Structure): Seq[String] = {
    val (before, now) = (names(stored, Names), names(window, Names))
    now.diff(before).map(name => s"$name is added, and begins empty") ++
      before.diff(now).map(name => s"$name is dropped")
  }
}
