package io.eventtide.engines

/** Has one engine count the rows of a topic, for each key and second, until the process is ended.
  *
  * The arguments are the engine, the servers of Kafka and the topics of rows and of results.
  */
object Live {

  def main(arguments: Array[String]): Unit = arguments match {
    case Array("jet", servers, input, output) => JetLive.run(Topics(servers, input, output))
    case Array("flink", servers, input, output) => FlinkLive.run(Topics(servers, input, output))
    case _ => sys.error("the arguments must be: jet|flink SERVERS INPUT OUTPUT")
  }
}
