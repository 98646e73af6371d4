package io.eventtide.kernel.window

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.InvalidArgument

/** What can be told about sessions by example; the rest is in `SessionsLawsSuite`. */
final class SessionsSuite extends AnyFunSuite {
  private val buffers = new ObjectBufferPool

  private def sessions(spec: SessionSpec, watermark: Option[Long] = None): Sessions = {
    val windows = new Sessions(spec, buffers)
    windows.begin()
    windows.beginBatch(watermark)
    windows
  }

  private def add(windows: Sessions, times: Long*): Seq[Boolean] =
    times.map(ts => windows.add(ts, buffers.of(ts.toInt)))

  /** Adds rows with gaps of their own: times and gaps. */
  private def addEach(windows: Sessions, rows: (Long, Long)*): Seq[Boolean] =
    rows.map { case (ts, gap) => windows.add(ts, gap, buffers.of(ts.toInt)) }

  private def outputs(next: => Boolean, windows: Sessions): Seq[(Long, Long, Seq[Int])] =
    Iterator
      .continually(next)
      .takeWhile(identity)
      .map(_ => (windows.start, windows.end, buffers(windows.result).sorted))
      .toSeq

  private def all(windows: Sessions): Seq[(Long, Long, Seq[Int])] =
    outputs(windows.nextOfAll(), windows)

  test("rows in any order are together when they are nearer than the gap") {
    val windows = sessions(SessionSpec(Some(5L)))
    add(windows, 10, 2, 6, 20)
    assert(all(windows) == Seq((2L, 15L, Seq(2, 6, 10)), (20L, 25L, Seq(20))))
    assert(windows.isEmpty)
  }

  test("rows exactly one gap apart are together where the profile says so") {
    for ((profile, count) <- Seq(Profile.eventtide -> 2, Profile.spark -> 1, Profile.flink -> 1)) {
      val windows = sessions(SessionSpec(Some(5L), profile = profile))
      add(windows, 0, 5)
      assert(all(windows).length == count, profile.name)
    }
  }

  test("a row that comes between two sessions makes them one") {
    val windows = sessions(SessionSpec(Some(5L)))
    add(windows, 0, 8, 4)
    assert(all(windows) == Seq((0L, 13L, Seq(0, 4, 8))))
  }

  test("a session is cut at its maximum, and the row at the cut begins another") {
    val windows = sessions(SessionSpec(Some(5L), maximum = Some(10)))
    add(windows, 0, 4, 8, 10, 12)
    assert(all(windows) == Seq((0L, 10L, Seq(0, 4, 8)), (10L, 17L, Seq(10, 12))))
  }

  test("a row before a session that it would stretch to its maximum begins another") {
    val windows = sessions(SessionSpec(Some(5L), maximum = Some(10)))
    add(windows, 4, 8, 12, 2)
    assert(all(windows) == Seq((2L, 7L, Seq(2)), (4L, 14L, Seq(4, 8, 12))))
  }

  test("two sessions that together would be too long stay two") {
    val windows = sessions(SessionSpec(Some(5L), maximum = Some(10)))
    add(windows, 0, 4, 11, 8)
    assert(all(windows) == Seq((0L, 10L, Seq(0, 4, 8)), (11L, 16L, Seq(11))))
  }

  test("a session closes when the watermark, less the delay, is at its end") {
    val windows = sessions(SessionSpec(Some(5L), delay = 3))
    add(windows, 0)
    assert(windows.due == 8)
    assert(outputs(windows.next(7), windows).isEmpty)
    assert(outputs(windows.next(8), windows) == Seq((0L, 5L, Seq(0))))
    assert(windows.due == WindowSet.Never)
  }

  test("jet's sessions close when the watermark is above their end") {
    val windows = sessions(SessionSpec(Some(5L), profile = Profile.jet))
    add(windows, 0)
    assert(outputs(windows.next(5), windows).isEmpty)
    assert(outputs(windows.next(6), windows).length == 1)
  }

  test("a row is judged by the session that it joins") {
    val windows = sessions(SessionSpec(Some(5L)))
    add(windows, 8)
    windows.beginBatch(Some(10))
    assert(add(windows, 4, 3) == Seq(true, true))
    assert(add(windows, -3) == Seq(false))
    assert(all(windows) == Seq((3L, 13L, Seq(3, 4, 8))))
  }

  test("spark judges a row by the session that it would be alone, jet by its time") {
    for ((profile, earliest) <- Seq(Profile.spark -> 6L, Profile.jet -> 10L)) {
      val windows = sessions(SessionSpec(Some(5L), profile = profile))
      add(windows, 12)
      windows.beginBatch(Some(10))
      assert(add(windows, earliest, earliest - 1) == Seq(true, false), profile.name)
    }
  }

  test("a record keeps all sessions") {
    val windows = sessions(SessionSpec(Some(5L)))
    add(windows, -20, 0, 4, 100)
    val sink = new ByteSink
    windows.write(sink)
    val again = sessions(SessionSpec(Some(5L)))
    val source = new ByteSource
    source.reset(sink.bytes, 0)
    again.read(source)
    assert(again.due == windows.due)
    assert(all(again) == all(windows))
  }

  test("a row with a shorter gap does not shorten its session") {
    val windows = sessions(SessionSpec(gap = None))
    addEach(windows, 0L -> 20L, 5L -> 1L, 19L -> 3L)
    assert(all(windows) == Seq((0L, 22L, Seq(0, 5, 19))))
  }

  test("a row with a long gap makes all sessions one that it reaches") {
    val rows = Seq(10L -> 2L, 14L -> 2L, 18L -> 2L, 30L -> 2L)
    val windows = sessions(SessionSpec(gap = None))
    addEach(windows, rows :+ (11L -> 8L): _*)
    assert(windows.mark == 10 && windows.replaced == 18)
    assert(all(windows) == Seq((10L, 20L, Seq(10, 11, 14, 18)), (30L, 32L, Seq(30))))
  }

  test("a row that ends where another begins is with it where the profile says so") {
    for ((profile, count) <- Seq(Profile.eventtide -> 2, Profile.flink -> 1)) {
      val windows = sessions(SessionSpec(gap = None, profile = profile))
      addEach(windows, 5L -> 9L, 0L -> 5L)
      assert(all(windows).length == count, profile.name)
    }
  }

  test("a session of rows with long gaps is cut at its maximum") {
    val windows = sessions(SessionSpec(gap = None, maximum = Some(10)))
    addEach(windows, 0L -> 50L, 8L -> 3L, 12L -> 1L)
    assert(all(windows) == Seq((0L, 10L, Seq(0, 8)), (12L, 13L, Seq(12))))
  }

  test("a row is judged by its own gap, or by that of the session that it joins") {
    val windows = sessions(SessionSpec(gap = None))
    addEach(windows, 8L -> 9L)
    windows.beginBatch(Some(10))
    assert(
      addEach(windows, 4L -> 3L, 1L -> 6L, 1L -> 8L, 4L -> 3L) == Seq(false, false, true, true)
    )
    assert(all(windows) == Seq((1L, 17L, Seq(1, 4, 8))))
  }

  test("a record keeps until when the rows of a session last") {
    val windows = sessions(SessionSpec(gap = None))
    addEach(windows, -20L -> 7L, 0L -> 9L, 4L -> 1L)
    val again = sessions(SessionSpec(gap = None))
    Records.readAll(Records.bytes(windows.write))(again.read)
    assert(again.due == windows.due)
    assert(all(again) == Seq((-20L, -13L, Seq(-20)), (0L, 9L, Seq(0, 4))))
  }

  test("lengths that make no session are refused") {
    assertThrows[InvalidArgument](SessionSpec(gap = None, maximum = Some(0)))
    assertThrows[InvalidArgument](SessionSpec(Some(0L)))
    assertThrows[InvalidArgument](SessionSpec(Some(5L), maximum = Some(4)))
    assertThrows[InvalidArgument](SessionSpec(Some(5L), delay = -1))
  }
}
