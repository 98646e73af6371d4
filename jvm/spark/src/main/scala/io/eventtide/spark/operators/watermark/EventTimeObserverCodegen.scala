package io.eventtide.spark.operators.watermark

import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext

/** Generates Java code that observes rows in a loop, with one observer per partition and class. */
private[watermark] final class EventTimeObserverCodegen(
    val ctx: CodegenContext,
    watch: EventTimeObserver
) {
  private val reference = ctx.addReferenceObj("rowWatch", watch)

  private val opened = ctx.addMutableState(
    classOf[PartitionEventTimeObserver].getName,
    "watch",
    name => s"$name = $reference.open(partitionIndex);",
    forceInline = true
  )

  private val finder = ctx.addMutableState(
    watch.keys.finderClass,
    "substreams",
    name => s"$name = (${watch.keys.finderClass}) $opened.finder();",
    forceInline = true
  )

  /** Observes the current row, in `ctx.currentVars`; a refused row leaves the loop body. */
  def present: String = {
    val time = ctx.freshName("eventTime")
    val verdict = ctx.freshName("verdict")
    val column = ctx.currentVars(watch.ordinal)
    val (statements, rows) = watch.keys.find(ctx, finder)
    s"""${column.code}
       |long $time = ${column.value};
       |int $verdict = ${PartitionEventTimeObserver.Counts};
       |if (${column.isNull} || $time < $opened.earliest() || $time > $opened.latest()) {
       |  $verdict = $opened.judge(${column.isNull}, $time);
       |  if ($verdict == ${PartitionEventTimeObserver.Leaves}) continue;
       |  $time = $opened.latest();
       |}
       |if ($verdict == ${PartitionEventTimeObserver.Counts}) {
       |  $statements
       |  $rows.add($time);
       |}
     """.stripMargin
  }
}
