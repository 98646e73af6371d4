package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.types.{DataType, LongType}

import io.eventtide.kernel.time.{Frame, FrameGrid}

/** The number of the frame that contains an event time. */
final case class FrameNumber(child: Expression, grid: FrameGrid) extends UnaryExpression {
  override def dataType: DataType = LongType
  override def nullIntolerant: Boolean = true

  override protected def nullSafeEval(micros: Any): Any = grid.index(micros.asInstanceOf[Long])

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = grid match {
    case frame: Frame => nullSafeCodeGen(ctx, ev, micros => divide(ctx, ev, micros, frame))
    case other =>
      val frames = ctx.addReferenceObj("grid", other, classOf[FrameGrid].getName)
      defineCodeGen(ctx, ev, micros => s"$frames.index($micros)")
  }

  // As `Frame.index`. The JIT compiler divides by a constant without a division instruction.
  private def divide(ctx: CodegenContext, ev: ExprCode, micros: String, frame: Frame): String = {
    val past = ctx.freshName("past")
    s"""${ev.value} = $micros / ${frame.size}L;
       |long $past = $micros - ${ev.value} * ${frame.size}L;
       |if ($past < 0) {
       |  ${ev.value} -= 1;
       |  $past += ${frame.size}L;
       |}
       |if ($past < ${frame.offset}L) ${ev.value} -= 1;
     """.stripMargin
  }

  override protected def withNewChildInternal(newChild: Expression): FrameNumber =
    copy(child = newChild)
}
