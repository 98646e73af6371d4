package io.eventtide.spark.operators.watermark

import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext

/** Generates Java code that observes rows in a loop, with one observer per partition and class. */
private[watermark] final class EventTimeObserverCodegen(
    val ctx: CodegenContext,
    observer: EventTimeObserver
) {
  private val reference = ctx.addReferenceObj("rowWatch", observer)

  private val opened = ctx.addMutableState(
    classOf[PartitionEventTimeObserver].getName,
    "watch",
    name => s"$name = $reference.open(partitionIndex);",
    forceInline = true
  )

  private val finder = ctx.addMutableState(
    observer.keys.finderClass,
    "substreams",
    name => s"$name = (${observer.keys.finderClass}) $opened.finder();",
    forceInline = true
  )

  /** Observes the current row, in `ctx.currentVars`; a refused row leaves the loop body. */
  def present: String = {
    val time = ctx.freshName("eventTime")
    val outcome = ctx.freshName("verdict")
    val column = ctx.currentVars(observer.ordinal)
    val (statements, rows) = observer.keys.find(ctx, finder)
    s"""${column.code}
       |long $time = ${column.value};
       |int $outcome = ${PartitionEventTimeObserver.Counts};
       |if (${column.isNull} || $time < $opened.earliest() || $time > $opened.latest()) {
       |  $outcome = $opened.judge(${column.isNull}, $time);
       |  if ($outcome == ${PartitionEventTimeObserver.Leaves}) continue;
       |  $time = Math.min($time, $opened.latest());
       |}
       |if ($outcome == ${PartitionEventTimeObserver.Counts}) {
       |  $statements
       |  $rows.add($time);
       |  if ($time < $opened.reached()) $opened.countDisorder($time);
       |  ${addMark(rows)}
       |}
     """.stripMargin
  }

  private def addMark(rows: String): String = observer.mark.fold("") { expression =>
    val mark = expression.genCode(ctx)
    s"""${mark.code}
       |if (!${mark.isNull}) $rows.addMark($opened.limited(${mark.value}));
     """.stripMargin
  }
}
