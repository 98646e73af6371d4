package io.eventtide.spark.sql

import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions.{Expression, NamedArgumentExpression}

import io.eventtide.kernel.watermark.{
  BySubstream,
  FutureGuard,
  MaxOf,
  MinOf,
  ParamKind,
  Policies,
  RuleKind,
  Throttles,
  WatermarkFrom
}
import io.eventtide.spark.options.OptionReader
import io.eventtide.spark.policies.PolicyErrors

/** Reads a policy and its decorators as the options of `WatermarkOptionsCodec`.
  *
  * {{{
  *   policy => 'with_fixed_lag', lag => '5s'
  *   policy => with_fixed_lag('5s')
  *   policy => max_of(limiting_lag_and_lull('5s', max_lull => '30s'), limiting_real_time_lag('1h'))
  *   policy => by_substream('eu-*', with_fixed_lag('1m'), '*', with_fixed_lag('5s'))
  *   decorators => (throttle_by_frame('1s'), guard_future('1h', 'late'))
  * }}}
  */
private[sql] final class PolicyReader(call: FunctionCall) {
  private val values = new ArgumentReader(call.session)
  private val times = new TimeReader(call.session)
  private val lists = new ExpressionList(call.session)

  /** The options of the policy; empty without one. */
  def options: Map[String, String] = {
    val beside = call.arguments.map(_.name).filter(isParameter).flatMap(call.get)
    val policy = call.get("policy").map { argument =>
      val written = Call.of(argument, lists.one(argument))
      val more = beside.map(of => NamedArgumentExpression(of.name, of.value))
      policyOptions(written.copy(values = written.values ++ more), "")
    }
    if (policy.isEmpty)
      (beside ++ call.get("decorators")).headOption.foreach { of =>
        OptionReader.missing("policy", s"a policy, because ${of.name} belongs to it")
      }
    policy.getOrElse(Map.empty) ++ decorators
  }

  // A parameter with the name of an argument can stand in the call of its policy only.
  private def isParameter(name: String): Boolean =
    PolicyReader.BuiltIn.contains(name) || !call.function.arguments.contains(name)

  private def policyOptions(policy: Call, prefix: String): Map[String, String] = {
    val own = policy.name match {
      case MinOf.name | MaxOf.name => children(policy, policy.values, prefix)
      case BySubstream.name => bySubstream(policy, prefix)
      case WatermarkFrom.Name =>
        policy.named(Seq(WatermarkFrom.Column)).map { case (name, value) =>
          s"$prefix$name" -> ColumnName.of(value, lists)
        }
      case name => parameters(policy, kind(policy, PolicyErrors.named(Policies.find(name))), prefix)
    }
    own + (s"${prefix}policy" -> policy.name)
  }

  private def kind(policy: Call, found: Option[RuleKind]): RuleKind = found.getOrElse {
    policy.argument.refuse(
      "INVALID_CHOICE",
      "value" -> policy.name,
      "allowed" -> PolicyReader.names.mkString(", ")
    )
  }

  private def children(
      policy: Call,
      parts: Seq[Expression],
      prefix: String
  ): Map[String, String] = {
    if (parts.isEmpty) {
      val pattern = s"${policy.name}(with_fixed_lag('5s'), limiting_real_time_lag('1h'))"
      policy.argument.refuse("SQL_CALL", "value" -> policy.argument.text, "call" -> pattern)
    }
    parts.zipWithIndex.flatMap { case (part, i) =>
      policyOptions(Call.of(policy.argument, part), s"${prefix}of.$i.")
    }.toMap
  }

  // Pairs of a name and a policy, as of `map`, which may stand around them.
  private def bySubstream(policy: Call, prefix: String): Map[String, String] = {
    val pairs = policy.values match {
      case Seq(map: UnresolvedFunction) if map.nameParts.map(_.toLowerCase) == Seq("map") =>
        map.arguments
      case several => several
    }
    val (names, policies) =
      pairs.grouped(2).toSeq.collect { case Seq(name, of) => name -> of }.unzip
    if (names.length * 2 != pairs.length || names.isEmpty) {
      val pattern = s"${BySubstream.name}('eu', with_fixed_lag('1m'), '*', with_fixed_lag('5s'))"
      policy.argument.refuse("SQL_CALL", "value" -> policy.argument.text, "call" -> pattern)
    }
    val patterns = names.zipWithIndex.map { case (name, i) =>
      s"${prefix}of.$i.substream" -> values.text(policy.parameter("substream", name))
    }
    children(policy, policies, prefix) ++ patterns
  }

  /** The options of the decorators. */
  def decorators: Map[String, String] = {
    val written =
      call.get("decorators").toSeq.flatMap(of => lists.expressions(of).map(Call.of(of, _)))
    written.zipWithIndex.flatMap { case (decorator, i) =>
      val prefix = s"decorators.$i"
      val own =
        if (decorator.name == FutureGuard.name) guard(decorator, s"$prefix.")
        else {
          val found = Throttles.all.find(_.name == decorator.name)
          parameters(decorator, decoratorKind(decorator, found), s"$prefix.")
        }
      own + (prefix -> decorator.name)
    }.toMap
  }

  private def decoratorKind(decorator: Call, found: Option[RuleKind]): RuleKind = found.getOrElse {
    val names = Throttles.all.map(_.name) :+ FutureGuard.name
    decorator.argument.refuse(
      "INVALID_CHOICE",
      "value" -> decorator.name,
      "allowed" -> names.mkString(", ")
    )
  }

  private def guard(decorator: Call, prefix: String): Map[String, String] =
    decorator.named(Seq("max_ahead", "on")).map {
      case ("on", mode) => s"${prefix}on" -> values.text(mode)
      case (name, ahead) => s"$prefix$name" -> times.duration(ahead, isPositive = false)
    }

  private def parameters(of: Call, kind: RuleKind, prefix: String): Map[String, String] = {
    val written = of.named(kind.params.map(_.name))
    kind.params.flatMap { param =>
      written.get(param.name).filterNot(given => values.literal(given).value == null).map { value =>
        val text = param.kind match {
          case ParamKind.Duration => times.duration(value, param.least > 0)
          case ParamKind.Count => values.count(value)
          case ParamKind.Share | ParamKind.Choice(_) => values.text(value)
        }
        s"$prefix${param.name}" -> text
      }
    }.toMap
  }
}

private[sql] object PolicyReader {

  /** The parameters of built-in policies. */
  val BuiltIn: Seq[String] =
    (Policies.builtIn.flatMap(_.params.map(_.name)) :+ WatermarkFrom.Column).distinct

  /** The parameters of policies in jars. */
  def ofJars: Seq[String] = PolicyErrors.named(Policies.custom.flatMap(_.params.map(_.name)))

  private def names: Seq[String] =
    (Policies.builtIn ++ Policies.custom).map(_.name) :+ WatermarkFrom.Name
}
