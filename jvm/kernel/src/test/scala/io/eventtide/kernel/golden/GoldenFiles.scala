package io.eventtide.kernel.golden

import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.Paths

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.ObjectMapper

/** Golden cases as plain values: whole numbers are 64-bit, objects are maps. */
final case class GoldenCase(file: String, fields: Map[String, Any]) {
  val id: String = fields.get("id").fold("a case without an id")(String.valueOf)

  /** What decides which player plays it: the subject, or in the field file the family. */
  val subject: String = fields
    .get("subject")
    .map(String.valueOf)
    .orElse(fields.get("family").map(family => s"field.$family"))
    .getOrElse("none")

  def config: Map[String, Any] = fields.get("config") match {
    case Some(map: Map[_, _]) => GoldenFiles.fieldsOf(map)
    case _ => Map.empty // a vocabulary refuses what is no object
  }

  def steps: Seq[Map[String, Any]] = fields.get("steps") match {
    case Some(all: List[_]) => all.collect { case one: Map[_, _] => GoldenFiles.fieldsOf(one) }
    case _ => Nil
  }
}

/** Finds and reads golden files: those of the repository, or of the folder in EVENTTIDE_GOLDEN. */
object GoldenFiles {
  def root: Path =
    sys.props.get("eventtide.root").fold(above(Paths.get("").toAbsolutePath))(Paths.get(_))

  def folder: Path =
    sys.env.get("EVENTTIDE_GOLDEN").fold(root.resolve("tests/golden"))(Paths.get(_))

  def files: Seq[Path] =
    Files.list(folder).iterator.asScala.filter(_.toString.endsWith(".json")).toSeq.sorted

  def cases(file: Path): Seq[GoldenCase] = {
    val name = file.getFileName.toString
    def unread(what: String): GoldenCase = GoldenCase(name, Map("id" -> s"$what of $name"))
    valueOf(new ObjectMapper().readTree(file.toFile)) match {
      case map: Map[_, _] =>
        fieldsOf(map).get("cases") match {
          case Some(all: List[_]) =>
            all.zipWithIndex.map {
              case (one: Map[_, _], _) => GoldenCase(name, fieldsOf(one))
              case (_, at) => unread(s"case $at")
            }
          case _ => Seq(unread("the cases"))
        }
      case _ => Seq(unread("the cases"))
    }
  }

  /** Cases that are not followed on purpose, with the reason; they count in every folder. */
  def deviations: Map[String, String] =
    Files
      .readAllLines(root.resolve("tests/golden/deviations.txt"))
      .asScala
      .filterNot(line => line.isBlank || line.startsWith("#"))
      .map(line => line.takeWhile(_ != ':') -> line.dropWhile(_ != ':').drop(1).trim)
      .toMap

  def fieldsOf(value: Any): Map[String, Any] = value.asInstanceOf[Map[String, Any]]

  private def above(folder: Path): Path =
    if (Files.exists(folder.resolve("build.sbt"))) folder else above(folder.getParent)

  private def valueOf(node: JsonNode): Any =
    if (node.isObject) node.properties.asScala.map(e => e.getKey -> valueOf(e.getValue)).toMap
    else if (node.isArray) node.elements.asScala.map(valueOf).toList
    else if (node.canConvertToLong && node.isIntegralNumber) node.longValue
    else if (node.isNumber) node.decimalValue
    else if (node.isBoolean) node.booleanValue
    else if (node.isNull) null
    else node.textValue
}
