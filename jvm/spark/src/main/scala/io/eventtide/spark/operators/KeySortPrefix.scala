package io.eventtide.spark.operators

import java.nio.ByteOrder

import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{
  BitwiseAnd,
  Cast,
  Coalesce,
  Expression,
  Literal,
  Murmur3Hash,
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

/** A number by which rows are sorted so that those of a key come together.
  *
  * A number alone is sorted by its digits, without comparing. Different keys may have the same one.
  */
private[operators] object KeySortPrefix {

  /** Not that of Spark's partitioning, which has keys with some hashes only in each partition. */
  private val Seed = 43

  /** That of no shorter number, and of a long one above 2^56^ only. */
  private val OfNull = 1L

  def apply(keys: Seq[Expression]): Expression = keys match {
    case Seq(IntegralKey(key)) => Coalesce(Seq(LittleEndianOrder(key), Literal(OfNull)))
    case _ => Cast(BitwiseAnd(Murmur3Hash(keys, Seed), Literal(Int.MaxValue)), LongType)
  }
}

/** A key that is a whole number. */
private[operators] object IntegralKey {
  def unapply(key: Expression): Option[Expression] = Option.when(masks.contains(key.dataType))(key)

  private val Word = -1L // all of its bits

  /** The bits that a row has for it, of its value as 64 bits. Those of a shorter one are the lower
    * ones of a word only where the lowest byte comes first.
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

/** The order of numbers in a state store, which compares them from their lowest byte up.
  *
  * Keys that are read and written in that order are near to each other in the store.
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
