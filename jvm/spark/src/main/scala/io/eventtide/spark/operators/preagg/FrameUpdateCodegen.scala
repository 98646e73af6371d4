package io.eventtide.spark.operators.preagg

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen.{
  CodeGenerator,
  CodegenContext,
  ExprCode,
  GenerateUnsafeProjection
}

import io.eventtide.spark.operators.IntegralKey

/** Generates code that updates the buffers of rows' keys and frames, in the code of a whole stage.
  *
  * @param frames
  *   the variable of the `FrameHashMap`
  */
private[preagg] final class FrameUpdateCodegen(
    ctx: CodegenContext,
    frames: String,
    updates: FrameAggregation
) {
  // A union calls doConsume once per branch, in one generated class: the branches share the rows
  // that are set aside.
  private var prefetch =
    Option.empty[(PrefetchBatchCodegen, String)] // with the name of its update function

  /** Code that aggregates a row; the columns that the updates read have been evaluated. */
  def take(input: Seq[ExprCode]): String = {
    ctx.currentVars = input
    ctx.INPUT_ROW = null
    val frame = updates.frame.genCode(ctx)
    val taken = updates.keys match {
      case Seq(IntegralKey(key)) => takeNumber(key.genCode(ctx), key, frame.value.code, input)
      case keys =>
        val key = GenerateUnsafeProjection.createCode(ctx, keys)
        s"""${key.code}
           |${updateAt(s"$frames.buffer(${key.value}, ${frame.value})", input)}
         """.stripMargin
    }
    s"""${frame.code}
       |$taken
     """.stripMargin
  }

  /** Code that aggregates all rows that are still set aside. */
  def updateRest: String = prefetch.fold("") { case (_, update) => s"$update();" }

  private def takeNumber(
      code: ExprCode,
      key: Expression,
      frame: String,
      input: Seq[ExprCode]
  ): String = {
    val word = s"((long) ${code.value}) & ${IntegralKey.masks(key.dataType)}L"
    val found = s"$frames.buffer($word, $frame)"
    val orNull = s"${code.isNull} ? $frames.nullKeyBuffer($frame) : $found"
    val direct = updateAt(if (key.nullable) orNull else found, input)
    val canPrefetch = updates.columns.forall(_.isPrimitive)
    s"""${code.code}
       |${if (canPrefetch) prefetchOr(direct, code, word, frame, input) else direct}
     """.stripMargin
  }

  private def prefetchOr(
      direct: String,
      key: ExprCode,
      word: String,
      frame: String,
      input: Seq[ExprCode]
  ): String = {
    val (rows, update) = prefetch.getOrElse(openPrefetch(input.length))
    s"""if ($frames.isWide() && !${key.isNull}) {
       |  ${rows.add(word, frame, updates.columns.map(column => input(column.at)), update)}
       |} else {
       |  $direct
       |}
     """.stripMargin
  }

  private def openPrefetch(columns: Int): (PrefetchBatchCodegen, String) = {
    val rows = new PrefetchBatchCodegen(ctx, frames, updates.columns)
    val update = rows.addUpdate((buffer, row) => updateCode(buffer, inPlace(row, columns)))
    prefetch = Some(rows -> update)
    (rows, update)
  }

  private def inPlace(row: Seq[ExprCode], length: Int): Seq[ExprCode] =
    updates.columns.zip(row).foldLeft(Seq.fill(length)(null: ExprCode)) {
      case (all, (column, code)) => all.updated(column.at, code)
    }

  private def updateAt(found: String, input: Seq[ExprCode]): String = {
    val buffer = ctx.freshName("buffer")
    s"""UnsafeRow $buffer = $found;
       |${updateCode(buffer, input)}
     """.stripMargin
  }

  /** Code that updates a buffer by the columns of a row. */
  private def updateCode(buffer: String, input: Seq[ExprCode]): String = {
    ctx.currentVars = Seq.fill(updates.initial.length)(null: ExprCode) ++ input
    ctx.INPUT_ROW = buffer
    val shared = ctx.subexpressionEliminationForWholeStageCodegen(updates.values)
    val sharedCode = ctx.evaluateSubExprEliminationState(shared.states.values)
    val values = ctx.withSubExprEliminationExprs(shared.states)(updates.values.map(_.genCode(ctx)))
    val stores = values.zip(updates.values).zipWithIndex.map { case ((value, of), i) =>
      CodeGenerator.updateColumn(buffer, of.dataType, i, value, of.nullable)
    }
    s"""$sharedCode
       |${values.map(_.code).mkString("\n")}
       |${stores.mkString("\n")}
     """.stripMargin
  }
}
