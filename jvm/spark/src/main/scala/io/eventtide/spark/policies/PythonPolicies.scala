package io.eventtide.spark.policies

import java.util.concurrent.TimeUnit.NANOSECONDS
import java.util.concurrent.{
  ExecutionException,
  ExecutorService,
  SynchronousQueue,
  ThreadPoolExecutor
}
import java.util.function.{Function => JFunction}

import com.fasterxml.jackson.databind.ObjectMapper

/** The answer of a Python policy to the rows of a batch. */
private[policies] sealed trait PythonAnswer

private[policies] object PythonAnswer {

  /** @param watermark
    *   the new watermark; None if there is none yet, or if it is unchanged
    */
  final case class Advanced(watermark: Option[Long], state: String) extends PythonAnswer
  final case class Failed(problem: String) extends PythonAnswer
}

/** Calls the policies in the Python process that has started this driver's JVM, or is connected to
  * it.
  */
private[spark] object PythonPolicies {
  private val mapper = new ObjectMapper()

  @volatile private var python = Option.empty[JFunction[String, String]]

  // A blocking read of Python's answer cannot be interrupted, but waiting for a thread can. Threads
  // stay: Py4J keeps a connection and a Python thread for each thread that has ever called Python.
  private lazy val threads: ExecutorService =
    new ThreadPoolExecutor(
      0,
      Int.MaxValue,
      Long.MaxValue,
      NANOSECONDS,
      new SynchronousQueue,
      named(_)
    )

  private def named(run: Runnable): Thread = {
    val thread = new Thread(run, "policies in Python")
    thread.setDaemon(true)
    thread
  }

  /** Sets the function of the Python process; it maps a request to an answer, both JSON. */
  def register(function: JFunction[String, String]): Unit = python = Some(function)

  private[policies] def advance(
      className: String,
      parameters: String,
      now: Long,
      highest: Long,
      lowest: Long,
      state: String
  ): PythonAnswer = python match {
    case None => PythonAnswer.Failed("this driver has no Python process with its class")
    case Some(function) =>
      val request = mapper.createObjectNode()
      request.put("policy", className).put("parameters", parameters).put("state", state)
      request.put("clock", now).put("highest", highest).put("lowest", lowest)
      answer(call(function, request.toString))
  }

  private def call(function: JFunction[String, String], request: String): String =
    try threads.submit(() => function(request)).get()
    catch { case failed: ExecutionException => throw failed.getCause }

  private def answer(text: String): PythonAnswer = {
    val node = mapper.readTree(text)
    if (node.has("problem")) PythonAnswer.Failed(node.get("problem").asText)
    else {
      val watermark = Option(node.get("watermark")).filterNot(_.isNull).map(_.asLong)
      PythonAnswer.Advanced(watermark, node.get("state").asText)
    }
  }
}
