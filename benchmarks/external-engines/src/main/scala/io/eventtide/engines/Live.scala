package io.eventtide.engines

/** Has one engine count the rows of a topic, for each key and window, until the process is ended.
  *
  * The arguments are the engine, the seconds of a window, the servers of Kafka and the topics of
  * rows and of results.
  */
object Live {

  def main(arguments: Array[String]): Unit = arguments match {
    case Array(engine, seconds, servers, input, output) =>
      run(engine, Topics(servers, input, output), seconds.toLong)
    case _ => sys.error("the arguments must be: jet|flink SECONDS SERVERS INPUT OUTPUT")
  }

  private def run(engine: String, topics: Topics, seconds: Long): Unit = engine match {
    case "jet" => JetLive.run(topics, seconds)
    case "flink" => FlinkLive.run(topics, seconds)
    case _ => sys.error(s"engine is $engine, but must be one of: jet, flink")
  }
}
