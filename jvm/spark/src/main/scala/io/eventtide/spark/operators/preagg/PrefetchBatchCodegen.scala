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

/** Code that sets rows aside, so that what they need of memory is fetched for many of them at once.
  *
  * Of many keys each row is at another place of memory, and waits for the entry of its key, then for
  * the record, then for the frame. Rows wait together when each of these is looked at for all of them
  * before the next is.
  *
  *   - '''Source:''' group prefetching, in Chen, Ailamaki, Gibbons, Mowry, "Improving hash join
  *     performance through prefetching" (ICDE 2004).
  *
  * @param frames
  *   the variable of the `FrameHashMap`
  * @param columns
  *   what the updates use of a row
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

  /** Code that sets a row aside, and updates all when they are as many as there is room for. */
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

  /** Adds a function that updates the buffers of all rows that are aside, in their order.
    *
    * @param updateOne
    *   code that updates a buffer by the columns of a row
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

  /** Rows that are aside at most: they and what is fetched for them stay in the first cache. */
  private[preagg] val Most = 128

  /** A column of the rows, by its place among them. */
  final case class Column(at: Int, dataType: DataType, nullable: Boolean) {
    def isPrimitive: Boolean = CodeGenerator.isPrimitiveType(dataType)
  }
}
