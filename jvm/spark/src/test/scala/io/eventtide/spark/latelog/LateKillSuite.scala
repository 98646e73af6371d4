package io.eventtide.spark.latelog

import java.io.{IOException, OutputStream}
import java.net.URI
import java.nio.file.{Files, Path => LocalPath}

import org.apache.hadoop.fs.{FSDataOutputStream, Path, RawLocalFileSystem}
import org.apache.hadoop.util.Progressable
import org.apache.spark.sql.streaming.StreamingQueryException
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import io.eventtide.spark.LocalSession
import io.eventtide.spark.options.{LateMode, LateSettings}

/** Late files of a driver that is killed when it has written so many bytes: from then on nothing of it
  * is done any more.
  */
final class MortalFiles extends RawLocalFileSystem {
  override def getUri: URI = URI.create("mortal:///")
  override def getScheme: String = "mortal"
  override def pathToFile(path: Path): java.io.File =
    super.pathToFile(new Path(path.toUri.getPath))

  override def create(
      path: Path,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream = {
    MortalFiles.live()
    val out = super.create(path, overwrite, bufferSize, replication, blockSize, progress)
    new FSDataOutputStream(new MortalStream(out), null)
  }

  override def delete(path: Path, recursive: Boolean): Boolean = {
    MortalFiles.live()
    super.delete(path, recursive)
  }
}

object MortalFiles {
  @volatile var left: Long = Long.MaxValue // bytes, before it dies

  def live(): Unit = if (left <= 0) throw new IOException("it was killed")
}

private final class MortalStream(out: FSDataOutputStream) extends OutputStream {
  override def write(byte: Int): Unit = write(Array(byte.toByte), 0, 1)

  override def write(bytes: Array[Byte], offset: Int, length: Int): Unit = {
    val most = math.min(MortalFiles.left, length.toLong).toInt
    out.write(bytes, offset, most)
    MortalFiles.left -= most
    if (most < length || MortalFiles.left == 0) out.hsync()
    MortalFiles.live()
  }

  override def close(): Unit = {
    MortalFiles.live()
    out.close()
  }
}

class LateKillSuite extends AnyFunSuite with LocalSession {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.experimental.extraStrategies = Seq(MarkLateStrategy(spark))
    spark.sparkContext.hadoopConfiguration.set("fs.mortal.impl", classOf[MortalFiles].getName)
  }

  private def orphans(query: LateQuery): LateOrphans =
    new LateOrphans(query.root, spark.sessionState.newHadoopConf())

  /** The late files of the only query that writes to a folder, and how long they are. */
  private def lengths(shared: LocalPath): Seq[Long] = {
    val files = shared.toFile.listFiles.flatMap(_.listFiles)
    files.filter(_.getName.endsWith(".parquet")).map(_.length).toSeq.sorted
  }

  private def running(query: LateQuery)(test: LateQuery => Unit): Unit =
    try test(query.start())
    finally query.stop()

  /** Kills a driver when it has written a part of the late file of its third batch. */
  private def killAfter(part: Double): Unit = {
    val shared = Files.createTempDirectory("shared")
    val settings = LateSettings(LateMode.Log, Some(s"mortal://$shared"))
    val query = new LateQuery(spark, settings)
    running(query) { _ =>
      query.feed(10)
      query.feed(1)
      val whole = lengths(shared).head
      MortalFiles.left = math.max(1, math.min(whole - 1, (whole * part).toLong))
      query.add(2)
      val half = MortalFiles.left
      try intercept[StreamingQueryException](query.awaitIdle())
      finally MortalFiles.left = Long.MaxValue
      assert(lengths(shared) == Seq(half, whole).sorted && query.late == Seq(1))
      assert(orphans(query).find().isEmpty) // its batch may be at work still
    }
    running(query.next(settings)) { again =>
      again.awaitIdle()
      again.feed(3)
      assert(again.late == Seq(1, 2, 3))
      assert(orphans(query).find().map(_.bytes) == lengths(shared).diff(kept(query)))
      assert(orphans(query).clean(Seq(s"mortal://$shared")).length == 1)
      assert(again.late == Seq(1, 2, 3) && lengths(shared).length == 3)
    }
  }

  private def kept(query: LateQuery): Seq[Long] = {
    val index = new LateIndexReader(query.root, spark.sessionState.newHadoopConf())
    index.entries(-1, 100).flatMap(_.filesOf(0)).map(_.bytes)
  }

  test("a driver that is killed in the middle of a late file leaves each row once", Slow) {
    Seq(0, 0.3, 0.6, 1).foreach(part => withClue(s"$part of the file: ")(killAfter(part.toDouble)))
  }
}
