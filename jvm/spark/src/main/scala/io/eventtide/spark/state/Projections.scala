package io.eventtide.spark.state

import java.util

import org.apache.spark.sql.catalyst.expressions.BindReferences.bindReferences
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  BoundReference,
  Expression,
  MutableProjection,
  PlanExpression,
  UnsafeProjection
}
import org.apache.spark.sql.eventtide.GeneratedInstances
import org.apache.spark.sql.types.{DataType, StructType}

/** Projections whose code is generated once in a JVM; each call returns a new one.
  *
  * Spark keeps the classes that it has compiled, by their text. It generates this text for each
  * projection of each task, which was a quarter of the CPU time of tasks with few rows.
  */
private[spark] object Projections {
  private val Most = 1000 // of the expressions that are kept

  private val kept = new util.LinkedHashMap[(Class[_], Seq[Expression]), GeneratedInstances](
    16,
    0.75f,
    true // the first is the one that was not used for the longest time
  ) {
    override def removeEldestEntry(
        eldest: util.Map.Entry[(Class[_], Seq[Expression]), GeneratedInstances]
    ): Boolean = size > Most
  }

  /** A projection of bound expressions. */
  def unsafe(expressions: Seq[Expression]): UnsafeProjection =
    of(classOf[UnsafeProjection], expressions)(UnsafeProjection.create(expressions))

  def unsafe(expressions: Seq[Expression], input: Seq[Attribute]): UnsafeProjection =
    unsafe(bindReferences(expressions, input))

  /** A projection to the columns of a row. */
  def columns(types: Seq[DataType]): UnsafeProjection =
    unsafe(types.zipWithIndex.map { case (kind, i) => BoundReference(i, kind, nullable = true) })

  def columns(schema: StructType): UnsafeProjection = columns(schema.map(_.dataType))

  def mutable(expressions: Seq[Expression], input: Seq[Attribute]): MutableProjection = {
    val bound = bindReferences(expressions, input)
    of(classOf[MutableProjection], bound)(MutableProjection.create(bound))
  }

  private def of[A <: AnyRef](kind: Class[A], expressions: Seq[Expression])(create: => A): A =
    if (expressions.exists(_.exists(_.isInstanceOf[PlanExpression[_]]))) create
    else {
      val key = (kind, expressions)
      val known = kept.synchronized(Option(kept.get(key)))
      known.fold(first(key, create))(instances => kind.cast(instances.next()))
    }

  private def first[A <: AnyRef](key: (Class[_], Seq[Expression]), created: A): A = {
    GeneratedInstances.like(created).foreach(like => kept.synchronized(kept.put(key, like)))
    created
  }
}
