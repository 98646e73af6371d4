package io.eventtide.spark.plan

import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.types.{DataType, LongType}

import io.eventtide.kernel.time.FrameGrid

/** The number of the frame that an event time is in. */
final case class FrameNumber(child: Expression, grid: FrameGrid) extends UnaryExpression {
  override def dataType: DataType = LongType
  override def nullIntolerant: Boolean = true

  override protected def nullSafeEval(micros: Any): Any = grid.index(micros.asInstanceOf[Long])

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val frames = ctx.addReferenceObj("grid", grid, classOf[FrameGrid].getName)
    defineCodeGen(ctx, ev, micros => s"$frames.index($micros)")
  }

  override protected def withNewChildInternal(newChild: Expression): FrameNumber =
    copy(child = newChild)
}
