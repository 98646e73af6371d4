package io.eventtide.spark.operators

import java.nio.ByteOrder

import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{
  BitwiseOr,
  Cast,
  Coalesce,
  Expression,
  Literal,
  ShiftLeft,
  ShiftRightUnsigned,
  UnaryExpression
}
import org.apache.spark.sql.types.{
  ByteType,
  DataType,
  DateType,
  IntegerType,
  LongType,
  ShortType,
  TimestampNTZType,
  TimestampType
}

import io.eventtide.spark.state.KeyPages

/** A sort prefix that brings the rows of a key together.
  *
  * Rows are radix-sorted by this number, without comparisons. Different keys may share a number.
  */
private[operators] object KeySortPrefix {

  /** The number of a null key. No shorter integer has it, and a long only above 2^39^. */
  private val NullPrefix = 1L << 31

  /** The bits of `MonotonicallyIncreasingID` that count the rows of a task. */
  private val RowBits = 33

  def apply(keys: Seq[Expression]): Expression = keys match {
    case Seq(IntegralKey(key)) => Coalesce(Seq(LittleEndianOrder(key), Literal(NullPrefix)))
    case _ => hash(keys)
  }

  /** The hash of the keys, which is the order of the state's pages. */
  def hash(keys: Seq[Expression]): Expression = Cast(KeyPages.hash(keys), LongType)

  /** The hash of the keys, with the lower 32 bits free. */
  def aboveTask(keys: Seq[Expression]): Expression = ShiftLeft(hash(keys), Literal(32))

  /** The number of a key, then the task before the shuffle, from the row's place in its arrival. */
  def withTask(keys: Seq[Expression], arrival: Expression): Expression =
    BitwiseOr(aboveTask(keys), ShiftRightUnsigned(arrival, Literal(RowBits)))

  /** The task before the shuffle, from a row's place in its arrival. */
  def taskOf(arrival: Long): Long = arrival >>> RowBits
}

/** Matches a key that is an integer, a date or a timestamp. */
private[operators] object IntegralKey {
  def unapply(key: Expression): Option[Expression] = Option.when(masks.contains(key.dataType))(key)

  private val Word = -1L // all bits

  /** For each type, the mask of its bits in a row, with the value widened to 64 bits. Types shorter
    * than a word are the lower bits of the word only on little-endian machines.
    */
  val masks: Map[DataType, Long] = Map[DataType, Long](
    ByteType -> 0xffL,
    ShortType -> 0xffffL,
    IntegerType -> 0xffffffffL,
    DateType -> 0xffffffffL,
    LongType -> Word,
    TimestampType -> Word,
    TimestampNTZType -> Word
  ).filter { case (_, mask) => mask == Word || ByteOrder.nativeOrder == ByteOrder.LITTLE_ENDIAN }
}

/** The order of numbers in a state store, which compares bytes from the lowest up.
  *
  * Keys that are read and written in this order are near each other in the store.
  */
private[operators] final case class LittleEndianOrder(child: Expression) extends UnaryExpression {
  override def dataType: DataType = LongType
  override def nullIntolerant: Boolean = true

  private def mask: Long = IntegralKey.masks(child.dataType)

  override protected def nullSafeEval(value: Any): Any =
    java.lang.Long.reverseBytes(value.asInstanceOf[Number].longValue & mask) ^ Long.MinValue

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    defineCodeGen(
      ctx,
      ev,
      value => s"Long.reverseBytes(((long) $value) & ${mask}L) ^ Long.MIN_VALUE"
    )

  override protected def withNewChildInternal(newChild: Expression): LittleEndianOrder =
    copy(child = newChild)
}
