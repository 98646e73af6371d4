package org.apache.spark.sql.eventtide;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.function.Supplier;
import org.apache.spark.ui.JettyUtils;
import org.apache.spark.ui.SparkUI;

/**
 * A file that Spark's UI serves, with the UI's access rules.
 *
 * <p>It is in Java because Scala signatures of Spark's UI name Jetty's original package, which
 * Spark's jars have under another name.
 */
final class UiFile extends HttpServlet {
  private static final long serialVersionUID = 1L;

  private final String type;
  private final transient Supplier<String> text;

  private UiFile(String type, Supplier<String> text) {
    this.type = type;
    this.text = text;
  }

  static void add(SparkUI ui, String path, String type, Supplier<String> text) {
    ui.attachHandler(
        JettyUtils.createServletHandler(path, new UiFile(type, text), ui.basePath()));
  }

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    response.setContentType(type + ";charset=utf-8");
    response.getWriter().write(text.get());
  }
}
