package io.eventtide.spark.connect

/** An answer to a question.
  *
  * @param options
  *   the options of the question; others are refused before anything is done
  * @param text
  *   makes the answer; null if there is none
  */
private[connect] final class Answer(options: Seq[String], text: ConnectQuestion => String) {

  def to(question: ConnectQuestion): String = {
    question.message.refuseOthers(options)
    text(question)
  }
}

private[connect] object Answer {

  /** The options of a question about a query. */
  val Query: Seq[String] = Seq("query", "run")

  def of(options: String*)(text: ConnectQuestion => String): Answer = new Answer(options, text)

  /** An answer about a query, to a question with these options more. */
  def ofQuery(options: String*)(text: ConnectQuestion => String): Answer =
    new Answer(Query ++ options, text)
}
