package io.eventtide.spark.testkit

import java.util.{List => JList}

import scala.jdk.CollectionConverters._

import net.razorvine.pickle.Unpickler
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.eventtide.SparkInternals
import org.apache.spark.sql.execution.python.EvaluatePython
import org.apache.spark.sql.types.StructType

/** Reads rows from Python: a pickled list of tuples with values in Spark's internal format, such as
  * times in microseconds.
  *
  * PySpark would pass the rows through a Python worker, which takes as long as a batch of a query.
  */
private[spark] object PickledRows {

  def read(pickled: Array[Byte], schema: StructType): Seq[InternalRow] = {
    val internal = EvaluatePython.makeFromJava(schema)
    val rows = new Unpickler().loads(pickled).asInstanceOf[JList[Any]].asScala
    rows.map(internal(_).asInstanceOf[InternalRow]).toSeq
  }

  def dataFrame(session: SparkSession, pickled: Array[Byte], schema: StructType): DataFrame = {
    val columns = DataTypeUtils.toAttributes(schema)
    SparkInternals.dataFrame(session, LocalRelation(columns, read(pickled, schema)))
  }
}
