package io.eventtide.spark.sql

import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.{
  ArrayType,
  BooleanType,
  ByteType,
  DataType,
  IntegerType,
  LongType,
  ShortType,
  StringType
}
import org.apache.spark.unsafe.types.UTF8String

/** Reads the values of arguments: texts, numbers and flags. */
private[sql] final class ArgumentReader(session: SparkSession) {

  def text(argument: Argument): String = literal(argument) match {
    case Literal(text: UTF8String, _: StringType) => text.toString
    case other => wrong(argument, other, "a text")
  }

  /** The texts of `array('north', 'south')`. */
  def texts(argument: Argument): Seq[String] = literal(argument) match {
    case Literal(array: ArrayData, ArrayType(_: StringType, _)) =>
      array.toSeq[UTF8String](StringType).map(String.valueOf)
    case other => wrong(argument, other, "a count, or texts such as array('north', 'south')")
  }

  /** A whole number; the codec checks its range. */
  def count(argument: Argument): String = literal(argument) match {
    case Literal(number: Number, kind) if ArgumentReader.Whole(kind) => number.toString
    case Literal(text: UTF8String, _: StringType) => text.toString
    case other => wrong(argument, other, "a whole number")
  }

  def flag(argument: Argument): Boolean = literal(argument) match {
    case Literal(value: Boolean, BooleanType) => value
    case other => wrong(argument, other, "true or false")
  }

  def isText(argument: Argument): Boolean = literal(argument).dataType.isInstanceOf[StringType]

  def isNumber(argument: Argument): Boolean = ArgumentReader.Whole(literal(argument).dataType)

  def literal(argument: Argument): Literal = Constants.of(argument, session)

  /** Refuses a value of another type. */
  def wrong(argument: Argument, value: Literal, allowed: String): Nothing = argument.refuse(
    "SQL_ARGUMENT_TYPE",
    "value" -> argument.text,
    "type" -> value.dataType.sql,
    "allowed" -> allowed
  )
}

private object ArgumentReader {
  private val Whole = Set[DataType](ByteType, ShortType, IntegerType, LongType)
}
