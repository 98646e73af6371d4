package io.eventtide.kernel.golden

import io.eventtide.kernel.golden.GoldenWindows.both
import io.eventtide.kernel.golden.JetWindows.{inNoOrder, inOrderOfEnds}
import io.eventtide.kernel.watermark.HistoryPlayer

/** Which player plays which case, by its subject. */
object GoldenPlayers {

  /** Plays a case: `GoldenMismatch` when it is not followed, `GoldenWaiting` when it cannot be played. */
  def play(golden: GoldenCase): Unit = golden.subject match {
    case s"policy.$kind" =>
      JetScript.play(golden, PolicyPlayer.words(kind), new PolicyPlayer(kind, _))
    case "history.ring" => JetScript.play(golden, HistoryPlayer.words, new HistoryPlayer(_))
    case s"throttle.$kind" =>
      JetScript.play(golden, ThrottlePlayer.words(kind), new ThrottlePlayer(kind, _))
    case "frames" => JetScript.play(golden, FramePlayer.words, new FramePlayer(_))
    case "event_time_mapper" =>
      JetScript.play(golden, MapperPlayer.words(golden), new MapperPlayer(_))
    case "watermark_coalescer" =>
      JetScript.play(golden, CoalescerPlayer.words, new CoalescerPlayer(_))
    case s"sliding_window$piece" => playSliding(golden, piece)
    case s"session_window$piece" => playSessions(golden, piece)
    case "storm" => StormScript.play(golden)
    case "voltsp" => both(VoltScript.play(golden, _))
    case s"field.$family" => playField(golden, family)
    case other => throw new GoldenWaiting(s"unknown subject: $other")
  }

  private def playSliding(golden: GoldenCase, piece: String): Unit = piece match {
    case "" =>
      both { deducts =>
        JetScript.play(
          golden,
          JetWindowsPlayer.words,
          new JetWindowsPlayer(_, deducts),
          inOrderOfEnds
        )
      }
    case ".restore" =>
      val words = JetRestorePlayer.words("NEXT_WIN_TO_EMIT")
      JetScript.play(golden, words, new JetRestorePlayer(_, "NEXT_WIN_TO_EMIT", above = 1))
    case ".restore_with_new_window" =>
      both { deducts =>
        JetScript.play(
          golden,
          JetNewWindowPlayer.words,
          new JetNewWindowPlayer(_, deducts),
          inOrderOfEnds
        )
      }
    case other => throw new GoldenWaiting(s"no piece for Jet's sliding windows$other")
  }

  private def playSessions(golden: GoldenCase, piece: String): Unit = piece match {
    case "" =>
      JetScript.play(golden, JetSessionsPlayer.words, new JetSessionsPlayer(_), inNoOrder)
    case ".restore" =>
      val words = JetRestorePlayer.words("CURRENT_WATERMARK")
      JetScript.play(golden, words, new JetRestorePlayer(_, "CURRENT_WATERMARK", above = 0))
    case other => throw new GoldenWaiting(s"no piece for Jet's sessions$other")
  }

  private def playField(golden: GoldenCase, family: String): Unit = family match {
    case "combiner" => FieldScript.play(golden, CombinerPlayer.words, new CombinerPlayer(_))
    case "split_multiplexer" =>
      FieldScript.play(golden, MultiplexerPlayer.words, new MultiplexerPlayer(_))
    case "generator" =>
      FieldScript.play(golden, GeneratorPlayer.words(golden), new GeneratorPlayer(_))
    case "spark_baseline" => throw new GoldenWaiting("stock Spark, which informs only")
    case "session_boundary" => SessionBoundary.play(golden)
    case _ if golden.config.contains("window") => playWindows(golden)
    case other => throw new GoldenWaiting(s"no piece for the field's family $other")
  }

  private def playWindows(golden: GoldenCase): Unit = {
    Form.anyObject.check("config: window", golden.config("window"))
    val window = GoldenFiles.fieldsOf(golden.config("window"))
    (window.get("kind"), window.get("time")) match {
      case (Some("session" | "session_dynamic"), _) =>
        FieldScript.play(golden, FieldWindows.ofSessions, new FieldSessionsPlayer(_))
      case (Some("global"), _) => throw new GoldenWaiting("no triggers by event time")
      case (_, Some("processing")) =>
        both { deducts =>
          FieldScript.play(golden, FieldWindows.byClock, new FieldByClockPlayer(_, deducts))
        }
      case _ => playFrames(golden)
    }
  }

  private def playFrames(golden: GoldenCase): Unit = both { deducts =>
    if (golden.config.get("trigger").exists(_.isInstanceOf[Map[_, _]]))
      FieldScript.play(golden, BeamPanes.words, new BeamPanes(_, deducts))
    else if (isLenient(golden))
      FieldScript.play(golden, FieldWindows.ofPanes, new FieldPanesPlayer(_, deducts))
    else
      FieldScript.play(
        golden,
        FieldWindows.words,
        new FieldWindowsPlayer(_, deducts),
        FieldWindows.atEnd
      )
  }

  private def isLenient(golden: GoldenCase): Boolean =
    golden.config.get("lateness").exists(_ != 0L)
}
