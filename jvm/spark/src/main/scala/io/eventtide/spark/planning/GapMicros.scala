package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.sql.types.{
  CalendarIntervalType,
  DataType,
  DayTimeIntervalType,
  LongType,
  StringType
}
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

import io.eventtide.kernel.time.Clamped

/** The session gap of a row in microseconds. It is null for a row without a usable gap. A gap is
  * not usable if it is null, zero or negative. Gaps with months and texts that Spark cannot parse
  * are not usable either.
  */
final case class GapMicros(child: Expression) extends UnaryExpression {
  override def dataType: DataType = LongType
  override def nullable: Boolean = true
  override def nullIntolerant: Boolean = true

  override protected def nullSafeEval(gap: Any): Any = {
    val micros = gap match {
      case text: UTF8String => GapLength.of(text)
      case interval: CalendarInterval => GapLength.of(interval)
      case dayTime => dayTime.asInstanceOf[Long]
    }
    if (micros > 0) micros else null
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    nullSafeCodeGen(
      ctx,
      ev,
      gap => s"""${ev.value} = ${length(gap)};
           |${ev.isNull} = ${ev.value} <= 0;
         """.stripMargin
    )

  private def length(gap: String): String = child.dataType match {
    case _: DayTimeIntervalType => gap
    case _ => s"${GapLength.getClass.getName.stripSuffix("$")}.of($gap)"
  }

  override protected def withNewChildInternal(newChild: Expression): GapMicros =
    copy(child = newChild)
}

object GapMicros {

  /** Whether a gap may have this type. */
  def takes(gap: DataType): Boolean = gap match {
    case _: StringType | CalendarIntervalType | _: DayTimeIntervalType => true
    case _ => false
  }
}

/** The length of an interval in microseconds, for generated code; a day has 24 hours. It is zero if
  * the interval has no fixed length.
  */
object GapLength {
  private val Day = 86400000000L

  def of(text: UTF8String): Long = {
    val interval = IntervalUtils.safeStringToInterval(text)
    if (interval == null) 0 else of(interval)
  }

  def of(interval: CalendarInterval): Long =
    if (interval.months != 0) 0
    else Clamped.add(Clamped.multiply(interval.days.toLong, Day), interval.microseconds)
}
