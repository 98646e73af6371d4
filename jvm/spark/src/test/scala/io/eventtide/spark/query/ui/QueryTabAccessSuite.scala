package io.eventtide.spark.query.ui

import java.net.URI
import java.net.http.HttpResponse.BodyHandlers
import java.net.http.{HttpClient, HttpRequest}

import jakarta.servlet.http.{HttpServletRequest, HttpServletRequestWrapper}
import jakarta.servlet.{Filter, FilterChain, ServletRequest, ServletResponse}
import org.apache.spark.sql.functions.col
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.testkit.Script
import io.eventtide.spark.{Eventtide, LocalSession, WatermarkPolicy}

/** The tab has the access rules of Spark's UI. */
class QueryTabAccessSuite extends AnyFunSuite with LocalSession {

  override protected def startSettings: Map[String, Any] = Map(
    "spark.ui.enabled" -> true,
    "spark.ui.port" -> 0,
    "spark.acls.enable" -> true,
    "spark.ui.view.acls" -> "alice",
    "spark.ui.filters" -> classOf[UserOfHeader].getName
  )

  private val client = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build()

  private def status(path: String, user: String): Int = {
    val address = URI.create(spark.sparkContext.uiWebUrl.get + path)
    val request = HttpRequest.newBuilder(address).header(UserOfHeader.Name, user).build()
    client.send(request, BodyHandlers.discarding()).statusCode
  }

  test("only those who may view the UI see the page, its files and its data") {
    val lag = WatermarkPolicy.withFixedLag("5s")
    val script =
      Script(spark, "ts timestamp")(Eventtide.withWatermark(_, "ts", lag).select(col("ts")))
    try
      for (path <- Seq("/eventtide/", "/eventtide/json/", "/eventtide/query.js"))
        assert((status(path, "alice"), status(path, "mallory")) == (200, 403), path)
    finally script.close()
  }
}

/** Takes the user of a request from a header. */
final class UserOfHeader extends Filter {
  override def doFilter(
      request: ServletRequest,
      answer: ServletResponse,
      next: FilterChain
  ): Unit = {
    val asked = request.asInstanceOf[HttpServletRequest]
    val known = new HttpServletRequestWrapper(asked) {
      override def getRemoteUser: String = asked.getHeader(UserOfHeader.Name)
    }
    next.doFilter(known, answer)
  }
}

object UserOfHeader {
  val Name = "X-User"
}
