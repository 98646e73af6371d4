package org.apache.spark.sql.eventtide

import org.apache.spark.sql.catalyst.expressions.codegen.GeneratedClass
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.types.UTF8String

/** Makes instances of a class that Spark has generated and compiled, without generating its text
  * anew.
  */
final class GeneratedInstances private (factory: GeneratedClass, references: Array[Any]) {
  def next(): Any = factory.generate(references)
}

object GeneratedInstances {
  private val Factory = "org.apache.spark.sql.catalyst.expressions.GeneratedClass"

  /** The instances like this one; None if it is not generated, or if it refers to objects that two
    * tasks must not share.
    */
  def like(first: AnyRef): Option[GeneratedInstances] =
    if (first.getClass.getName.startsWith(Factory + "$")) {
      val references = referencesOf(first)
      Option.when(references.forall(isImmutable))(
        new GeneratedInstances(factoryOf(first), references)
      )
    } else None

  private def referencesOf(generated: AnyRef): Array[Any] = {
    val field = generated.getClass.getDeclaredField("references")
    field.setAccessible(true)
    field.get(generated).asInstanceOf[Array[Any]]
  }

  private def factoryOf(generated: AnyRef): GeneratedClass = {
    val factory = generated.getClass.getClassLoader.loadClass(Factory)
    factory.getConstructor().newInstance().asInstanceOf[GeneratedClass]
  }

  private def isImmutable(value: Any): Boolean = value match {
    case null | _: String | _: UTF8String | _: DataType => true
    case _: java.lang.Number | _: java.lang.Boolean => true
    case _ => false
  }
}
