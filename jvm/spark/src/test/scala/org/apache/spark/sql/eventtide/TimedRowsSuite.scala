package org.apache.spark.sql.eventtide

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch, TimeUnit}

import scala.jdk.CollectionConverters._

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types.{BinaryType, DataType}
import org.scalatest.funsuite.AnyFunSuite

/** Rows that another thread reads: their order and memory, and the end of a task. */
class TimedRowsSuite extends AnyFunSuite {
  private val project = UnsafeProjection.create(Array[DataType](BinaryType))

  private def row(size: Int): InternalRow = project(InternalRow(new Array[Byte](size)))

  /** What has left a thread as an exception. */
  private def uncaught(work: => Unit): Seq[Throwable] = {
    val found = new ConcurrentLinkedQueue[Throwable]
    val before = Thread.getDefaultUncaughtExceptionHandler
    Thread.setDefaultUncaughtExceptionHandler((_, failure) => found.add(failure): Unit)
    try work
    finally Thread.setDefaultUncaughtExceptionHandler(before)
    found.asScala.toSeq
  }

  /** Waits as Kafka's consumer does, which restores the flag and throws an error of its own. */
  private final class Waiting(entered: CountDownLatch) extends Iterator[InternalRow] {
    override def next(): InternalRow = throw new NoSuchElementException
    override def hasNext: Boolean = {
      entered.countDown()
      try Thread.sleep(60000)
      catch {
        case _: InterruptedException =>
          Thread.currentThread.interrupt()
          throw new IllegalStateException("interrupted")
      }
      false
    }
  }

  test("rows of all sizes keep their order and content") {
    val sizes = Seq(10, 4000, 100, 5000, 20, 3000, 1 << 20, 0) ++ (1 to 3000)
    val read = InTask {
      new TimedRows(sizes.iterator.map(row)).start().map(_.getBinary(0).length).toSeq
    }
    assert(read == sizes)
  }

  test("large rows that wait have a limit in bytes") {
    val made = new AtomicInteger
    InTask {
      val rows = new TimedRows(Iterator.continually {
        made.incrementAndGet()
        row(1 << 20)
      }).start()
      for (_ <- 1 to 5) rows.next()
      assert(made.get < 5 + 20)
    }
  }

  test("large rows that do not fit together come one after the other") {
    for (sizes <- Seq(Seq.fill(4)(7 << 20), Seq(13 << 20, 8 << 10, 13 << 20, 10))) {
      val read = InTask {
        val rows = new TimedRows(sizes.iterator.map(row)).start()
        sizes.map { _ =>
          assert(rows.await(60000000L))
          rows.next().getBinary(0).length
        }
      }
      assert(read == sizes)
    }
  }

  test("a task that ends while its source waits stops the reader, and nothing leaves the thread") {
    val entered = new CountDownLatch(1)
    val failures = uncaught(InTask {
      val rows = new TimedRows(new Waiting(entered)).start()
      assert(entered.await(60, TimeUnit.SECONDS))
      assert(!rows.await(1))
    })
    assert(failures.isEmpty)
  }

  test("the reader stops before the source is closed, whose listener is younger") {
    val entered = new CountDownLatch(1)
    var isReading = true
    InTask {
      val context = TaskContext.get()
      val waiting = new Waiting(entered)
      val source = new Iterator[InternalRow] {
        private lazy val opened = context.addTaskCompletionListener[Unit] { _ =>
          isReading = Thread.getAllStackTraces.keySet.asScala.exists { one =>
            one.getName == "eventtide real-time reader" && one.isAlive
          }
        }
        override def hasNext: Boolean = { opened; waiting.hasNext }
        override def next(): InternalRow = waiting.next()
      }
      val rows = new TimedRows(source).start()
      assert(entered.await(60, TimeUnit.SECONDS))
      assert(!rows.await(1))
    }
    assert(!isReading)
  }

  test("an error of the source is thrown to the task") {
    InTask {
      val rows =
        new TimedRows(Iterator.continually(throw new IllegalStateException("lost"))).start()
      assert(intercept[IllegalStateException](rows.hasNext).getMessage == "lost")
    }
  }
}
