package io.eventtide.spark.exec

import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext

/** Java that watches the present row, in `ctx.currentVars`; a refused one goes no further. */
private[exec] object RowWatchCode {

  def apply(ctx: CodegenContext, watch: RowWatch): String = {
    val reference = ctx.addReferenceObj("rowWatch", watch)
    val opened = ctx.addMutableState(
      classOf[PartitionWatch].getName,
      "watch",
      name => s"$name = $reference.open(partitionIndex);",
      forceInline = true
    )
    val time = ctx.freshName("eventTime")
    val column = ctx.currentVars(watch.ordinal)
    val (statements, rows) = watch.keys.code(ctx, opened)
    s"""${column.code}
       |long $time = ${column.value};
       |if (${column.isNull} || $time < $opened.earliest() || $time > $opened.latest()) {
       |  if ($opened.refuses(${column.isNull}, $time)) continue;
       |  $time = $opened.latest();
       |}
       |$statements
       |$rows.add($time);
     """.stripMargin
  }
}
