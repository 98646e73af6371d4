package io.eventtide.chaos

import java.io.IOException
import java.nio.file.{Path, Paths}
import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.collection.mutable

/** What one run has done with files, and what shall happen to it.
  *
  * A step is an operation on a kind of file, before or after it is done:
  * `before create checkpoint/commits/N`. A fault happens at the n-th step of such a name.
  */
final class RunFiles(val name: String) {
  import RunFiles._

  private val seen = mutable.LinkedHashMap.empty[String, Int]
  private val deleted = mutable.Set.empty[String]
  private var root = ""
  private var fault = "none"
  private var step = ""
  private var occurrence = 0
  private var stale = false
  @volatile private var halted = false
  @volatile private var storage = Renames
  private val reached = new CountDownLatch(1)
  private val released = new CountDownLatch(1)

  /** Where the folders lie that kinds of files are named by, and how the storage behaves. */
  def setUp(root: String, storage: String): Unit = synchronized {
    require(
      Storages(storage),
      s"storage is $storage, but must be one of ${Storages.mkString(", ")}"
    )
    this.root = root
    this.storage = storage
  }

  /** Lets a fault happen at the n-th step of a name, counted from 1. */
  def plan(fault: String, step: String, occurrence: Int): Unit = synchronized {
    require(Known(fault), s"fault is $fault, but must be one of ${Known.mkString(", ")}")
    this.fault = fault
    this.step = step
    this.occurrence = occurrence
  }

  /** How often each step was made, one a line: the number, a space, the step. */
  def steps: String = synchronized(seen.map { case (step, n) => s"$n $step" }.mkString("\n"))

  /** Whether the fault has begun, after so long at most. */
  def awaitReached(ms: Long): Boolean = reached.await(ms, TimeUnit.MILLISECONDS)

  /** Whether a stalled step was let go, after so long at most. */
  def awaitReleased(ms: Long): Boolean = released.await(ms, TimeUnit.MILLISECONDS)

  /** Lets a stalled step go on. */
  def release(): Unit = released.countDown()

  /** From here on each file call fails, as if the process were gone. */
  def halt(): Unit = halted = true

  def isHalted: Boolean = halted

  def storageIs(storage: String): Boolean = this.storage == storage

  /** Of the trial. */
  def folder: Path = Paths.get(synchronized(root))

  /** Fails once the run is halted. */
  def check(): Unit =
    if (halted) throw new IOException(s"$Mark the run has been halted")

  /** Makes a file call with its two steps around it. */
  def around[T](operation: String, path: String)(call: => T): T = {
    val what = s"$operation ${kind(path)}"
    check()
    pass(s"before $what")
    val result = call
    if (operation == "delete" || operation == "rename") synchronized(deleted += path): Unit
    pass(s"after $what")
    result
  }

  /** Names of a folder that are gone, where its listings are stale by now. */
  def staleNames(folder: String): Seq[String] = synchronized {
    val prefix = if (folder.endsWith("/")) folder else s"$folder/"
    if (!stale) Nil
    else
      deleted.toSeq.filter(path =>
        path.startsWith(prefix) && !path.substring(prefix.length).contains('/')
      )
  }

  private def pass(at: String): Unit = {
    val isIt = synchronized {
      val n = seen.getOrElse(at, 0) + 1
      seen(at) = n
      at == step && n == occurrence
    }
    if (isIt) happen(at)
  }

  private def happen(at: String): Unit = {
    fault match {
      case "halt" => halt()
      case "stale" => synchronized { stale = true }
      case _ =>
    }
    reached.countDown()
    fault match {
      case "halt" => check()
      case "throw" => throw new IOException(s"$Mark it fails $at")
      case "stall" | "interrupt" => await()
      case _ =>
    }
  }

  // What interrupts it meanwhile finds the thread interrupted in the call itself.
  private def await(): Unit =
    try released.await(Patience, TimeUnit.SECONDS): Unit
    catch { case _: InterruptedException => Thread.currentThread.interrupt() }

  private def kind(path: String): String = {
    val below = if (path.startsWith(root)) path.substring(root.length).stripPrefix("/") else path
    Numbers.foldLeft(below) { case (text, (pattern, stand)) => pattern.replaceAllIn(text, stand) }
  }
}

object RunFiles {

  /** In each text of a failure that is a fault's own. */
  val Mark = "chaos:"

  val Renames = "renames"
  val LastWins = "last_wins"
  val ObjectStore = "object_store"

  private val Storages = Set(Renames, LastWins, ObjectStore)
  private val Known = Set("none", "halt", "throw", "stall", "interrupt", "stale")
  private val Patience = 120L // seconds

  private val Numbers = Seq(
    "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}".r -> "U",
    "(?<![0-9a-z])[0-9a-f]{12}(?![0-9a-z])".r -> "H",
    "-?[0-9]+".r -> "N"
  )
}
