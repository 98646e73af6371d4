package io.eventtide.spark.operators.window

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.unsafe.types.UTF8String

import io.eventtide.kernel.window.PaneTiming

/** The columns that identify a result among the results of its window: index, timing, whether it is
  * the last, and the name of its trigger if triggers are named.
  */
private[window] final class PaneColumns(triggers: Seq[String], columns: Int) {
  private val pane = new GenericInternalRow(columns)
  private val names = triggers.map(UTF8String.fromString).toArray

  /** The columns, valid until the next call. */
  def apply(index: Int, timing: PaneTiming, isLast: Boolean, trigger: Int): InternalRow = {
    pane.setInt(0, index)
    pane.update(1, PaneColumns.text(timing))
    pane.setBoolean(2, isLast)
    if (columns > 3) pane.update(3, names(trigger))
    pane
  }
}

private[window] object PaneColumns {
  private val texts = PaneTiming.all
    .map(timing => timing -> UTF8String.fromString(timing.name))
    .toMap

  private def text(timing: PaneTiming): UTF8String = texts(timing)

  /** The columns of a window that emits one row. */
  val Only: InternalRow = InternalRow(0, text(PaneTiming.OnTime), true)
}
