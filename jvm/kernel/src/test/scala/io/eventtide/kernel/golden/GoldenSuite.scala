package io.eventtide.kernel.golden

import scala.collection.mutable
import scala.util.control.NonFatal

import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.golden.GoldenWindows.both
import io.eventtide.kernel.golden.JetWindows.inOrderOfEnds
import io.eventtide.kernel.watermark.HistoryPlayer

/** Plays every golden case that the kernel can play, and says what became of all of them. */
final class GoldenSuite extends AnyFunSuite with BeforeAndAfterAll {
  import GoldenSuite._

  private val deviations = GoldenFiles.deviations
  private val outcomes = mutable.Buffer.empty[Outcome]

  for (file <- GoldenFiles.files)
    test(s"every case of ${file.getFileName} is followed, deviates on purpose or waits") {
      val played = GoldenFiles.cases(file).map(golden => golden -> outcomeOf(golden, deviations))
      outcomes ++= played.map(_._2)
      val failed = played.collect { case (golden, Failed(why)) => s"${golden.id}: $why" }
      assert(failed.isEmpty, failed.mkString("\n", "\n", ""))
    }

  test("there are golden cases to play") {
    assert(outcomes.exists { case Followed => true; case _ => false })
  }

  override def afterAll(): Unit = {
    waitingFor.foreach { case (reason, count) => println(s"golden: $count waiting: $reason") }
    println(summary)
  }

  private def waitingFor: Seq[(String, Int)] =
    outcomes
      .collect { case Waiting(reason) => reason }
      .groupBy(identity)
      .view
      .mapValues(_.size)
      .toSeq
      .sorted

  private def summary: String = {
    def count(kind: PartialFunction[Outcome, Unit]): Int = outcomes.count(kind.isDefinedAt)
    val followed = count { case Followed => }
    val deviating = count { case Deviating(_) => }
    val waiting = count { case Waiting(_) => }
    val failed = count { case Failed(_) => }
    s"golden: $followed followed, $deviating deviating, $waiting waiting, $failed failed"
  }
}

object GoldenSuite {

  /** What became of a case. */
  sealed trait Outcome
  case object Followed extends Outcome
  final case class Deviating(reason: String) extends Outcome
  final case class Waiting(reason: String) extends Outcome
  final case class Failed(why: String) extends Outcome

  /** Plays a case; one that is listed as a deviation must not be followed. */
  def outcomeOf(golden: GoldenCase, deviations: Map[String, String]): Outcome =
    try { play(golden); deviations.get(golden.id).fold[Outcome](Followed)(stale) }
    catch {
      case waiting: GoldenWaiting => Waiting(waiting.reason)
      case other @ (_: GoldenMismatch | _: InvalidArgument) =>
        deviations.get(golden.id).fold[Outcome](Failed(other.getMessage))(Deviating(_))
      case NonFatal(other) => Failed(other.toString) // an unknown step is never a deviation
    }

  private def stale(reason: String): Outcome =
    Failed(s"listed as a deviation, but followed: $reason")

  private def play(golden: GoldenCase): Unit = golden.subject match {
    case s"policy.$kind" => JetScript.play(golden, new PolicyPlayer(kind, _))
    case "history.ring" => JetScript.play(golden, new HistoryPlayer(_))
    case s"throttle.$kind" => JetScript.play(golden, new ThrottlePlayer(kind, _))
    case "frames" => JetScript.play(golden, new FramePlayer(_))
    case "event_time_mapper" => JetScript.play(golden, new MapperPlayer(_))
    case "watermark_coalescer" => JetScript.play(golden, new CoalescerPlayer(_))
    case "field.combiner" => FieldScript.play(golden, new CombinerPlayer(_))
    case "field.split_multiplexer" => FieldScript.play(golden, new MultiplexerPlayer(_))
    case "field.generator" => FieldScript.play(golden, new GeneratorPlayer(_))
    case "field.spark_baseline" => throw new GoldenWaiting("stock Spark, which informs only")
    case "field.session_boundary" => SessionBoundary.play(golden)
    case "field.window_processing_time" =>
      both(deducts => FieldScript.play(golden, new FieldByClockPlayer(_, deducts)))
    case s"field.$_" if isSessions(golden) =>
      FieldScript.play(golden, new FieldSessionsPlayer(_))
    case s"field.$_" if golden.config.contains("window") =>
      both(deducts => FieldScript.play(golden, new FieldWindowsPlayer(_, deducts)))
    case s"field.$family" => throw new GoldenWaiting(s"no piece for the field's family $family")
    case "storm" => StormScript.play(golden)
    case "voltsp" => both(VoltScript.play(golden, _))
    case "sliding_window" =>
      both(deducts => JetScript.play(golden, new JetWindowsPlayer(_, deducts), inOrderOfEnds))
    case "sliding_window.restore" => JetScript.play(golden, new JetRestorePlayer(_))
    case "sliding_window.restore_with_new_window" =>
      both(deducts => JetScript.play(golden, new JetNewWindowPlayer(_, deducts), inOrderOfEnds))
    case s"sliding_window.$piece" => throw new GoldenWaiting(s"no piece for Jet's $piece")
    case "session_window" =>
      JetScript.play(golden, new JetSessionsPlayer(_), JetWindows.inNoOrder)
    case s"session_window$piece" => throw new GoldenWaiting(s"no piece for Jet's sessions$piece")
    case other => throw new GoldenMismatch(s"unknown subject: $other")
  }

  private def isSessions(golden: GoldenCase): Boolean =
    golden.config.get("window").exists { window =>
      GoldenFiles.fieldsOf(window)("kind").toString.startsWith("session")
    }
}
