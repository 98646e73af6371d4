package io.eventtide.spark.repair

import org.apache.spark.sql.expressions.Window
import org.apache.spark.sql.functions.{
  col,
  collect_list,
  explode,
  filter,
  forall,
  last,
  lit,
  size,
  struct,
  transform,
  when
}
import org.apache.spark.sql.{Column, DataFrame}

/** Results that a query wrote, and results recomputed from all rows.
  *
  * Results are compared in groups. A group is one window and key. For sessions, a group is one chain
  * of rows of a key without a gap between them.
  *
  * @param written
  *   the results that were written
  * @param recomputed
  *   the results recomputed from all rows
  * @param late
  *   the windows of the late rows only
  * @param chains
  *   the sessions of all rows without a maximum duration, each a group; None if a group is a window
  * @param keys
  *   the key columns, which all of these DataFrames have
  * @param takesAll
  *   whether every group is corrected, even if it has no late rows
  */
private[repair] final case class WindowCorrections(
    written: DataFrame,
    recomputed: DataFrame,
    late: DataFrame,
    chains: Option[DataFrame],
    keys: Seq[String],
    takesAll: Boolean
) {
  import WindowCorrections._

  /** The corrected results, with the columns of `written` and `Changed`. */
  def corrected: DataFrame = {
    val unchanged = transform(col(Old), marked(_, lit("unchanged")))
    val rows = when(isTouched, transform(col(New), judged(_))).otherwise(unchanged)
    groups.select(explode(rows).as("marked")).select("marked.row.*", s"marked.$Changed")
  }

  private def groups: DataFrame = {
    val columns = struct(written.columns.map(named).toIndexedSeq: _*)
    val parts = Seq(
      part(recomputed, columns.as(New)),
      part(written, columns.as(Old)),
      part(late, lit(true).as(Late))
    ) ++ chains.map(part(_, lit(true).as(Chain)))
    val together = parts.reduce(_.unionByName(_, allowMissingColumns = true))
    val group = if (chains.isEmpty) col(Range) else chain
    together
      .withColumn(Group, group)
      .groupBy(Key, Group)
      .agg(
        collect_list(New).as(New),
        collect_list(Old).as(Old),
        collect_list(Late).as(Late)
      )
  }

  private def part(rows: DataFrame, value: Column): DataFrame = {
    val parts = keys.zipWithIndex.map { case (key, i) =>
      ComparableColumn(named(key), rows.schema(key).dataType).as(s"_$i")
    }
    rows.select(col(Range), struct(lit(0) +: parts: _*).as(Key), value)
  }

  /** Whether the new results of a group replace the old results. */
  private def isTouched: Column = {
    val isNew = size(col(New)) > 0
    if (takesAll) isNew
    else {
      val hasLate = size(col(Late)) > 0
      // A row that is not late may merge an open session with an emitted session.
      val isMerged = size(col(Old)) > size(col(New))
      (if (chains.isEmpty) hasLate else hasLate || isMerged) && isNew
    }
  }

  /** A new result with its `Changed` value. */
  private def judged(row: Column): Column = {
    val before = filter(col(Old), overlap(_, row))
    val isSame = forall(before, old => comparable(old) <=> comparable(row))
    val changed =
      when(size(before) === 0, "new").when(isSame, "unchanged").otherwise("corrected")
    marked(row, changed)
  }

  private def comparable(row: Column): Column = {
    val fields = recomputed.schema.fields.map { field =>
      ComparableColumn(row.getField(field.name), field.dataType)
    }
    struct(fields.toIndexedSeq: _*)
  }
}

private[repair] object WindowCorrections {

  /** The column that says what has changed. */
  val Changed = "changed"

  private val Range = "window"
  private val Key = "key"
  private val Group = "group"
  private val New = "new"
  private val Old = "old"
  private val Late = "late"
  private val Chain = "chain"

  /** The chain in which a result begins, or the result's window if there is none. */
  private def chain: Column = {
    val start = col(Range).getField("start")
    val order = Window.partitionBy(Key).orderBy(start, col(Chain).desc_nulls_last)
    val before = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    val found = last(when(col(Chain), col(Range)), ignoreNulls = true).over(before)
    when(start < found.getField("end"), found).otherwise(col(Range))
  }

  private def overlap(one: Column, other: Column): Column = {
    def bound(row: Column, name: String) = row.getField(Range).getField(name)
    bound(one, "start") < bound(other, "end") && bound(other, "start") < bound(one, "end")
  }

  private def marked(row: Column, changed: Column): Column =
    struct(row.as("row"), changed.as(Changed))

  private def named(column: String): Column = col(s"`${column.replace("`", "``")}`")
}
