package io.eventtide.spark.options

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.window.Profile

class StoredWindowSuite extends AnyFunSuite {
  private val Minute = 60000000L

  private def settings(options: (String, String)*): WindowSettings =
    WindowCodec.window(options.toMap, isLocal = false)

  private val times = Seq(0L, 1L, 59999999L, Minute, 90000001L, 3599999999L, -1L)

  private val fixed = Seq(
    Seq("kind" -> "tumbling", "size" -> "PT1M"),
    Seq("kind" -> "tumbling", "size" -> "PT1M", "offset" -> "PT7S", "delay" -> "PT5S"),
    Seq("kind" -> "sliding", "size" -> "PT3M", "slide" -> "PT20S", "allowed_lateness" -> "PT1H"),
    Seq("kind" -> "cumulate", "size" -> "PT5M", "step" -> "PT1M")
  )

  for (options <- fixed; profile <- Profile.all.map(_.name)) {
    val all = options :+ "profile" -> profile
    test(s"what is stored of a window tells when rows are late: ${all.mkString(", ")}") {
      val window = settings(all: _*)
      val stored = StoredWindow(window.structure)
      assert(times.map(stored.lateFrom) == times.map(window.spec.lateFrom))
      val ends = times.map(window.spec.grid.index)
      val starts = ends.map(window.spec.grid.start)
      assert(starts.map(stored.closesAt) == ends.map(window.onTime.closesAt))
      assert(stored.endsByTime && !stored.hasOwnTime)
    }
  }

  test("other windows close at their end, and a row is late when it is behind the watermark") {
    val month = settings("kind" -> "tumbling", "size" -> "P1M", "time_zone" -> "UTC")
    val session = settings("kind" -> "session", "gap" -> "PT5M", "delay" -> "PT1M")
    for (window <- Seq(month, session)) assert(StoredWindow(window.structure).lateFrom(5) == 6)
    assert(StoredWindow(session.structure).closesAt(0) == Minute)
  }

  test("windows of rows, and windows in the time of keys, are known as such") {
    val count = settings("kind" -> "count", "rows" -> "3")
    val byRows = settings("kind" -> "storm", "length.time" -> "PT1M", "slide.rows" -> "3")
    for (window <- Seq(count, byRows)) assert(!StoredWindow(window.structure).endsByTime)
    assert(StoredWindow(Structure("watermark_scope" -> "key")).hasOwnTime)
  }
}
