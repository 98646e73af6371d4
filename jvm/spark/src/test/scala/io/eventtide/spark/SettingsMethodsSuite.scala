package io.eventtide.spark

import java.io.File

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.storm.StormWindow

/** Each setting of the table has a method in Scala, with the name of its method or of its argument in
  * Python, in camel case.
  */
class SettingsMethodsSuite extends AnyFunSuite {
  private val methods = Seq(classOf[WindowBuilder], classOf[WatermarkOptions], classOf[StormWindow])
    .flatMap(_.getMethods.map(_.getName))
    .toSet

  private val rows = {
    val table = "jvm/spark/src/main/resources/io/eventtide/spark/settings.json"
    val path = new File(sys.props("eventtide.root"), table)
    new ObjectMapper().readTree(path).elements.asScala.filter(_.has("python")).toSeq
  }

  test("every setting of a watermark and of a window has a method") {
    val missing = rows.flatMap { row =>
      val names = row.get("python").elements.asScala.map(_.asText.stripPrefix("storm.")).toSeq
      val words = names.flatMap(_.split('.')).map(camel)
      Option.unless(words.exists(methods))(names.mkString(" "))
    }
    assert(missing.isEmpty)
  }

  private def camel(name: String): String = {
    val words = name.split('_')
    (words.take(1) ++ words.drop(1).map(_.capitalize)).mkString
  }
}
