package io.eventtide.spark.operators.preagg

import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{
  CodeGenerator,
  CodegenContext,
  EmptyBlock,
  ExprCode,
  JavaCode
}
import org.apache.spark.sql.types.DataType

/** Generates code that sets rows aside, so that memory is prefetched for a batch of them.
  *
  * With many keys, each row accesses a different part of memory. Its update waits for the entry of
  * its key, then for the record, then for the frame. If each step is done for all rows before the
  * next step, the waits overlap.
  *
  *   - '''Source:''' group prefetching, in Chen, Ailamaki, Gibbons, Mowry, "Improving hash join
  *     performance through prefetching" (ICDE 2004).
  *
  * @param frames
  *   the variable of the `FrameHashMap`
  * @param columns
  *   the columns of a row that the updates read
  */
private[preagg] final class PrefetchBatchCodegen(
    ctx: CodegenContext,
    frames: String,
    columns: Seq[PrefetchBatchCodegen.Column]
) {
  import PrefetchBatchCodegen.Most

  private val keys = array(CodeGenerator.JAVA_LONG, "keysAside")
  private val numbers = array(CodeGenerator.JAVA_LONG, "framesAside")
  private val count = ctx.addMutableState(CodeGenerator.JAVA_INT, "aside")
  private val values = columns.map(of => array(CodeGenerator.javaType(of.dataType), "valuesAside"))
  private val nulls = columns.map { of =>
    Option.when(of.nullable)(array(CodeGenerator.JAVA_BOOLEAN, "nullsAside"))
  }

  private def array(javaType: String, name: String): String =
    ctx.addMutableState(
      s"$javaType[]",
      name,
      v => s"$v = new $javaType[$Most];",
      forceInline = true
    )

  /** Code that sets a row aside, and updates all rows when `Most` rows are set aside. */
  def add(key: String, frame: String, row: Seq[ExprCode], update: String): String = {
    val stores = columns.indices.map { i =>
      val isNull = nulls(i).map(array => s"$array[$count] = ${row(i).isNull};")
      s"${values(i)}[$count] = ${row(i).value}; ${isNull.mkString}"
    }
    s"""$keys[$count] = $key;
       |$numbers[$count] = $frame;
       |${stores.mkString("\n")}
       |if (++$count == $Most) $update();
     """.stripMargin
  }

  /** Adds a function that updates the buffers of all rows that are set aside, in input order.
    *
    * @param updateOne
    *   code that updates a buffer from the columns of a row
    */
  def addUpdate(updateOne: (String, Seq[ExprCode]) => String): String = {
    val name = ctx.freshName("updateAside")
    val (at, buffer) = (ctx.freshName("at"), ctx.freshName("buffer"))
    val row = columns.indices.map { i =>
      readCode(columns(i), s"${values(i)}[$at]", nulls(i).map(array => s"$array[$at]"))
    }
    val reads = row.map(_.code).mkString("\n")
    val update = updateOne(buffer, row.map(_.copy(code = EmptyBlock)))
    ctx.addNewFunction(
      name,
      s"""private void $name() throws java.io.IOException {
         |  $frames.fetch($keys, $numbers, $count);
         |  for (int $at = 0; $at < $count; $at++) {
         |    UnsafeRow $buffer = $frames.buffer($keys[$at], $numbers[$at]);
         |    $reads
         |    $update
         |  }
         |  $count = 0;
         |}
       """.stripMargin
    )
  }

  private def readCode(
      of: PrefetchBatchCodegen.Column,
      value: String,
      isNull: Option[String]
  ): ExprCode = {
    val name = ctx.freshName("value")
    val nullName = ctx.freshName("isNull")
    val javaType = CodeGenerator.javaType(of.dataType)
    val read = code"$javaType $name = $value; boolean $nullName = ${isNull.getOrElse("false")};"
    ExprCode(read, JavaCode.isNullVariable(nullName), JavaCode.variable(name, of.dataType))
  }
}

private[preagg] object PrefetchBatchCodegen {

  /** The maximum number of rows set aside; they and their prefetched memory fit in the first-level
    * cache.
    */
  private[preagg] val Most = 128

  /** A column of the rows; `at` is its ordinal. */
  final case class Column(at: Int, dataType: DataType, nullable: Boolean) {
    def isPrimitive: Boolean = CodeGenerator.isPrimitiveType(dataType)
  }
}
