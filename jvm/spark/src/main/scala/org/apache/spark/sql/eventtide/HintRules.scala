package org.apache.spark.sql.eventtide

import java.lang.reflect.{InvocationTargetException, Proxy}

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.analysis.Analyzer
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.StaticSQLConf

/** Hint rules of an extension: the rules that run before Spark looks up names.
  *
  * Before Spark 4.3, the analyzer of a session with Hive's catalog leaves the hint rules of
  * extensions out. There the rules are added to the analyzer before it is used: by the parser before
  * a SQL text, and by a rule for plans without one, whose start comes later.
  */
object HintRules {

  def inject(extensions: SparkSessionExtensions, rules: Seq[Rule[LogicalPlan]]): Unit = {
    rules.foreach(rule => extensions.injectHintResolutionRule(_ => rule))
    extensions.injectResolutionRule(session => new AddRules(classic(session), rules))
    extensions.injectParser { (session, parser) =>
      if (hasHive(classic(session))) adding(classic(session), parser, rules) else parser
    }
  }

  private final class AddRules(session: SparkSession, rules: Seq[Rule[LogicalPlan]])
      extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = { add(session, rules); plan }
  }

  // The methods of a parser change with each minor, so none is written out here.
  private def adding(
      session: SparkSession,
      parser: ParserInterface,
      rules: Seq[Rule[LogicalPlan]]
  ): ParserInterface =
    Proxy
      .newProxyInstance(
        getClass.getClassLoader,
        Array(classOf[ParserInterface]),
        (_, method, arguments) => {
          add(session, rules)
          try method.invoke(parser, Option(arguments).getOrElse(Array.empty[AnyRef]): _*)
          catch { case error: InvocationTargetException => throw error.getCause }
        }
      )
      .asInstanceOf[ParserInterface]

  private def add(session: SparkSession, rules: Seq[Rule[LogicalPlan]]): Unit = {
    val analyzer = session.sessionState.analyzer
    analyzer.synchronized {
      val missing = rules.diff(analyzer.hintResolutionRules)
      // The analyzer reads the field for each plan, and nothing else can add to it.
      if (missing.nonEmpty) {
        val field = classOf[Analyzer].getDeclaredField("hintResolutionRules")
        field.setAccessible(true)
        field.set(analyzer, analyzer.hintResolutionRules ++ missing)
      }
    }
  }

  private def hasHive(session: SparkSession): Boolean =
    session.sparkContext.conf.get(StaticSQLConf.CATALOG_IMPLEMENTATION) == "hive"

  private def classic(session: org.apache.spark.sql.SparkSession): SparkSession =
    session.asInstanceOf[SparkSession]
}
