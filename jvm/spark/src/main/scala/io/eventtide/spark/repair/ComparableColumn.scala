package io.eventtide.spark.repair

import org.apache.spark.sql.Column
import org.apache.spark.sql.functions.{
  array_sort,
  map_entries,
  schema_of_variant,
  struct,
  to_json,
  transform,
  when
}
import org.apache.spark.sql.types.{
  ArrayType,
  CalendarIntervalType,
  DataType,
  MapType,
  StructType,
  VariantType
}

/** Values that Spark cannot compare, as values that it can compare and that are equal as often.
  *
  *   - '''Edges:''' a map becomes its sorted entries, a variant its JSON and its type, an interval
  *     its text. Arrays and structs are converted element by element. A null stays null.
  */
private[repair] object ComparableColumn {

  def apply(value: Column, kind: DataType): Column = kind match {
    case CalendarIntervalType => value.cast("string")
    case VariantType => when(value.isNotNull, struct(to_json(value), schema_of_variant(value)))
    case map: MapType => array_sort(transform(map_entries(value), entry(_, map)))
    case other if !hasUnordered(other) => value
    case ArrayType(element, _) => transform(value, apply(_, element))
    case StructType(fields) =>
      val parts = fields.zipWithIndex.map { case (field, i) =>
        apply(value.getField(field.name), field.dataType).as(s"_$i")
      }
      when(value.isNotNull, struct(parts.toIndexedSeq: _*))
    case _ => value
  }

  private def entry(of: Column, kind: MapType): Column = struct(
    apply(of.getField("key"), kind.keyType).as("key"),
    apply(of.getField("value"), kind.valueType).as("value")
  )

  private def hasUnordered(kind: DataType): Boolean = kind match {
    case ArrayType(element, _) => hasUnordered(element)
    case StructType(fields) => fields.exists(field => hasUnordered(field.dataType))
    case _: MapType | CalendarIntervalType | VariantType => true
    case _ => false
  }
}
