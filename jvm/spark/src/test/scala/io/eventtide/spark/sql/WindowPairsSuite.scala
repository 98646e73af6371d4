package io.eventtide.spark.sql

import scala.jdk.CollectionConverters._
import scala.util.{Failure, Success, Try}

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.functions.{col, count}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.{BorderFiles, Eventtide, EventtideException, RequestedWindow}

/** Every kind of window with each pair of settings, as options and as arguments of SQL. Both are
  * accepted and refused as Python's builder does.
  */
class WindowPairsSuite extends AnyFunSuite with SqlPlans {
  private val border = BorderFiles.read("window_pairs.json")
  private val (kinds, settings) = (border.get("kinds"), border.get("settings"))
  private val names = settings.fieldNames.asScala.toSeq
  private val Clock = "processing_time"

  private def method(setting: String): String = setting.takeWhile(_ != '(')

  private val pairs = names.map(Seq(_)) ++
    names.combinations(2).filter(pair => pair.map(method).distinct.length == 2)

  private def isRefused(verdict: JsonNode)(pair: Seq[String]): Boolean = {
    def has(list: String) =
      verdict.get(list).elements.asScala.map(_.elements.asScala.map(_.asText).toSeq).contains(pair)
    val alone = verdict.get("alone").elements.asScala.map(_.asText).toSet
    has("together") || pair.exists(alone) && !has("allowed")
  }

  private def faults(kind: String, cases: Seq[Seq[String]])(
      window: Map[String, String] => Any
  ): String = cases
    .flatMap { pair =>
      val all = pair.map(name => BorderFiles.texts(settings.get(name))) :+
        BorderFiles.texts(kinds.get(kind))
      (Try(window(all.reduce(_ ++ _))), isRefused(border.get("verdicts").get(kind))(pair)) match {
        case (Failure(_: EventtideException), true) | (Success(_), false) => None
        case (found, _) =>
          Some(s"${pair.mkString(".")}: ${found.fold(_.toString, _ => "accepted")}")
      }
    }
    .mkString("\n")

  for (kind <- kinds.fieldNames.asScala) {
    test(s"options with $kind") {
      assert(faults(kind, pairs)(requested) == "")
    }
    test(s"arguments of SQL with $kind") {
      val cases = pairs.filterNot(_.exists(method(_) == "on_late"))
      assert(faults(kind, cases)(options => spark.sql(call(options)).schema) == "")
    }
  }

  private def requested(options: Map[String, String]): Any = {
    val rows = spark.table("events")
    val agg = Seq(count("*").as("n"))
    if (options.contains(Clock)) {
      val timed = Eventtide.withIngestionTime(rows, "_processing_time")
      val own = options - Clock
      RequestedWindow(timed, "_processing_time", Map.empty, Seq(col("device")), agg, own)
    } else {
      val watermark = Map("policy" -> "with_fixed_lag", "lag" -> "PT5S")
      RequestedWindow(rows, "ts", watermark, Seq(col("device")), agg, options)
    }
  }

  private def call(options: Map[String, String]): String = {
    val time = if (options.contains(Clock)) "" else "ts, with_fixed_lag('5s'), "
    val own = (options - "kind" - "every").map { case (name, text) =>
      s"$name => ${argument(name, text)}"
    }
    s"SELECT * FROM eventtide_window(TABLE(events), $time key_by => device, agg => count(*), " +
      s"${own.mkString(", ")})"
  }

  private def argument(name: String, text: String): String = (name, text) match {
    case ("triggers", "every") => "every('10s')"
    case ("triggers", _) | (_, "true") => text
    case _ if text.toIntOption.isDefined => text
    case _ => s"'$text'"
  }
}
