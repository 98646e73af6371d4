package io.eventtide.spark.checkpoint

import java.io.FileNotFoundException
import java.nio.channels.ClosedByInterruptException
import java.nio.file.{Files, NoSuchFileException, Paths}
import java.util.UUID
import java.util.concurrent.atomic.AtomicInteger

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, FileStatus, Path, PathFilter}
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.{CheckpointConf, EventtideException}

class RunEpochSuite extends AnyFunSuite {
  private val conf = CheckpointConf()

  private def newRoot(): Path = new Path(Files.createTempDirectory("runs").toUri)

  private def begun(root: Path, run: UUID = UUID.randomUUID()): RunEpoch = {
    val epoch = new RunEpoch(root, run, conf)
    epoch.begin()
    epoch
  }

  private def runs(root: Path): Seq[String] = {
    val files = new java.io.File(new Path(root, "eventtide/runs").toUri).list.toSeq
    files.filterNot(_.startsWith(".")).sorted
  }

  private def refusal(action: => Any): String = {
    val error = intercept[EventtideException](action)
    assert(error.condition == "CHECKPOINT_TAKEN_OVER")
    error.getMessage
  }

  test("a damaged file is refused by name") {
    val root = newRoot()
    begun(root)
    val file = new java.io.File(new Path(root, "eventtide/runs/0").toUri)
    Seq("{", "{}", "{\"folder\": 1}").foreach { state =>
      Files.writeString(file.toPath, s"${UUID.randomUUID()}\n$state")
      Files.deleteIfExists(file.toPath.resolveSibling(".0.crc"))
      val error = intercept[EventtideException](begun(root))
      assert(error.condition == "RUN_UNREADABLE")
    }
  }

  test("a file with a number that is written in another way belongs to no run") {
    val root = newRoot()
    val folder = Files.createDirectories(Paths.get(new Path(root, "eventtide/runs").toUri))
    val others = Seq("+7", "00", "007")
    others.foreach(name => Files.writeString(folder.resolve(name), UUID.randomUUID().toString))
    assert(RunEpoch.statePartitions(root, conf).isEmpty)
    begun(root).check()
    assert(runs(root) == others.patch(1, Seq("0"), 0))
  }

  test("the last run to begin goes on, and any before it is told by whom it was taken over") {
    val root = newRoot()
    val first = begun(root)
    first.check()
    val run = UUID.randomUUID()
    val second = begun(root, run)
    second.check()
    assert(refusal(first.check()).contains(run.toString))
    begun(root).check()
    assert(refusal(first.check()).nonEmpty && refusal(second.check()).nonEmpty)
    assert(runs(root) == Seq("2"))
  }

  test("what fails once another run has begun fails because of that") {
    val first = begun(newRoot())
    val root = newRoot()
    val taken = begun(root)
    begun(root)
    val failures = Seq(
      new FileNotFoundException("late/5"),
      new NoSuchFileException("late/5"),
      EventtideException("CHECKPOINT_EMPTY", "root" -> root)
    )
    for (failure <- failures) {
      assert(intercept[Exception](first.owning(throw failure)) eq failure)
      val named = intercept[EventtideException](taken.owning(throw failure))
      assert(
        named.condition == "CHECKPOINT_TAKEN_OVER" && named.getSuppressed.toSeq == Seq(failure)
      )
    }
    val named = intercept[EventtideException](taken.owning(taken.check()))
    assert(named.getSuppressed.isEmpty)
    val other = new IllegalStateException("of a policy")
    assert(intercept[Exception](taken.owning(throw other)) eq other)
    assert(taken.owning(3) == 3)
  }

  test("an idle run looks once a second, with one call") {
    val root = newRoot()
    val counting = new Configuration(conf)
    counting.set(CheckpointConf.Key, classOf[CountedFiles].getName)
    val first = new RunEpoch(root, UUID.randomUUID(), counting)
    first.begin()
    CountedFiles.calls.set(0)
    Seq(5000L, 5001L, 5999L).foreach(first.checkOnceASecond)
    assert(CountedFiles.calls.get == 1)
    begun(root)
    first.checkOnceASecond(5999)
    assert(refusal(first.checkOnceASecond(6000)).nonEmpty)
    assert(new CheckpointFiles(new Path(root, "none"), conf).names.isEmpty)
  }

  test("a run that is stopped while it begins ends, and tries no other epoch") {
    val root = newRoot()
    val interrupted = new Configuration(conf)
    interrupted.set(CheckpointConf.Key, classOf[InterruptedFiles].getName)
    intercept[ClosedByInterruptException](
      new RunEpoch(root, UUID.randomUUID(), interrupted).begin()
    )
    assert(runs(root) == Seq("0"))
  }

  test("a run that another begins after, while it begins, leaves the checkpoint to it") {
    val root = newRoot()
    val overtaken = new Configuration(conf)
    overtaken.set(CheckpointConf.Key, classOf[OvertakenFiles].getName)
    assert(refusal(new RunEpoch(root, UUID.randomUUID(), overtaken).begin()).nonEmpty)
    assert(runs(root) == Seq("1"))
  }

  private val elsewhere =
    StatePartitions(7, 5, 12, Map(10000L -> Seq("a", "b"), 10001L -> Seq("c")))

  test("every start takes over where the state is") {
    val root = newRoot()
    assert(begun(root).statePartitions.isEmpty)
    val epoch = begun(root)
    assert(epoch.replace(elsewhere) && epoch.statePartitions.contains(elsewhere))
    epoch.check()
    assert(begun(root).statePartitions.contains(elsewhere))
    assert(begun(root).statePartitions.contains(elsewhere))
    assert(RunEpoch.statePartitions(root, conf).contains(elsewhere))
    assert(runs(root) == Seq("4"))
  }

  test("a start before the state is elsewhere wins, whether or not another start follows") {
    for (starts <- 1 to 3) {
      val root = newRoot()
      val epoch = begun(root)
      (1 to starts).foreach(_ => begun(root))
      assert(!epoch.replace(elsewhere))
      assert(RunEpoch.statePartitions(root, conf).isEmpty)
      assert(begun(root).statePartitions.isEmpty)
    }
  }

  test("only the first batch after a repartitioning has ids of its own") {
    val ids = elsewhere.idsFor(12)
    assert(ids(10000).map(_.toSeq).toSeq == Seq(Seq("a"), Seq("b")))
    assert(elsewhere.idsFor(13).isEmpty && elsewhere.idsFor(11).isEmpty)
    assert(elsewhere.path(new Path("/c")) == new Path("/c/eventtide/state/7"))
  }

  test("a batch is not ended twice") {
    val root = newRoot()
    val epoch = begun(root)
    epoch.checkUncommitted(3)
    val commits = Files.createDirectories(Paths.get(root.toUri).resolve("commits"))
    Files.createFile(commits.resolve("3"))
    assert(refusal(epoch.checkUncommitted(3)).contains("batch 3"))
  }

  test("a file that another run has written meanwhile is left as it is") {
    val root = newRoot()
    val files = new CheckpointFiles(new Path(root, "folder"), conf)
    files.write("1")(_.writeInt(1))
    assert(refusal(files.write("1")(_.writeInt(2))).contains("folder/1 belongs to"))
    assert(files.create("1")(_.writeInt(2)).isEmpty && files.read("1")(_.readInt()) == 1)
  }
}

/** Files whose every question to the file system is counted. */
final class CountedFiles(path: Path, conf: Configuration)
    extends FileSystemBasedCheckpointFileManager(path, conf) {
  override def exists(path: Path): Boolean = {
    CountedFiles.calls.incrementAndGet(); super.exists(path)
  }

  override def list(path: Path, filter: PathFilter): Array[FileStatus] = {
    CountedFiles.calls.incrementAndGet()
    super.list(path, filter)
  }
}

object CountedFiles {
  val calls = new AtomicInteger
}

/** Files that are read by a thread that was interrupted. */
final class InterruptedFiles(path: Path, conf: Configuration)
    extends FileSystemBasedCheckpointFileManager(path, conf) {
  override def open(path: Path): FSDataInputStream = throw new ClosedByInterruptException()
}

/** Files before each of which another run begins. */
final class OvertakenFiles(path: Path, conf: Configuration)
    extends FileSystemBasedCheckpointFileManager(path, conf) {
  override def open(file: Path): FSDataInputStream = {
    val root = file.getParent.getParent.getParent
    if (!exists(new Path(path, "1")))
      new RunEpoch(root, UUID.randomUUID(), CheckpointConf()).begin()
    super.open(file)
  }
}
