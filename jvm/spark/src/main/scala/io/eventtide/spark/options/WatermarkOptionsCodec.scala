package io.eventtide.spark.options

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.watermark.{
  BySubstream,
  FutureGuard,
  ParamKind,
  ParamSpec,
  Policies,
  PolicyFailure,
  PolicyKind,
  PolicySpec,
  Substreams,
  ThrottleSpec,
  Throttles,
  WatermarkFrom,
  WithIngestionTime
}
import io.eventtide.spark.EventtideException
import io.eventtide.spark.policies.{PolicyErrors, PythonPolicyKind}

/** Parses a flat map of options into settings. Text becomes types only here.
  *
  * {{{
  *   policy=limiting_lag_and_lull  lag=PT5S  max_lull=PT30S      parameters next to their policy
  *   policy=min_of  of.0.policy=with_fixed_lag  of.0.lag=PT5S    nested policies, numbered
  *   policy=by_substream  of.0.substream=eu  of.1.substream=*    the substreams of each policy
  *   decorators.0=throttle_by_frame  decorators.0.size=PT1S      in the order of application
  *   decorators.1=guard_future  decorators.1.max_ahead=PT1H  decorators.1.on=late
  *   substream_idle_timeout  expected (a count)  expected.0 (names)  max_substreams  substream_ttl
  *   max_clock_step  on_restart  name
  * }}}
  *
  * Durations are ISO 8601 and become microseconds. Policies and throttles declare their parameters,
  * so a new policy or throttle needs no change here.
  */
private[spark] object WatermarkOptionsCodec {
  private val MaxSubstreams = 100000

  private val Never = "never"

  // Spark's watermark is in whole milliseconds, so it cannot represent smaller frames or steps.
  private val SmallestStep = 1000L

  private val GuardModes = FutureGuard.modes.map(mode => mode.name -> mode)

  private val Reserved = Set(
    "policy",
    "of",
    "decorators",
    "substream",
    "substream_idle_timeout",
    "expected",
    "max_substreams",
    Substreams.Ttl,
    "max_clock_step",
    "on_restart",
    "name"
  )

  private val RestartModes = Seq("hold_until_caught_up" -> true, "resume" -> false)

  def watermark(values: Map[String, String], substreams: SubstreamDescription): WatermarkSettings =
    try
      PolicyErrors.named {
        val options = new OptionReader(values)
        val result = settings(options, policy(options, ""), substreams)
        result.newSubstreams(): Unit // rejects throttles that cannot be combined
        result
      }
    catch {
      case refused: InvalidArgument =>
        throw EventtideException("INVALID_ARGUMENT", "reason" -> refused.getMessage)
    }

  /** As `watermark`, for ingestion time, which supports one policy only. */
  def ingestion(values: Map[String, String]): WatermarkSettings = {
    val all = values + ("policy" -> WithIngestionTime.name)
    val result = watermark(all, SubstreamDescription.Global)
    if (values.getOrElse("policy", result.policy.name) != result.policy.name) {
      OptionReader.unknown("policy", values("policy"), result.policy.name)
    }
    result
  }

  private def settings(
      options: OptionReader,
      policy: PolicySpec,
      substreams: SubstreamDescription
  ): WatermarkSettings = {
    val decorators = options.numbered("decorators")
    val (guards, throttles) = decorators.partition(options.get(_).contains(FutureGuard.name))
    val names = options.numbered("expected").flatMap(options.get)
    val result = WatermarkSettings(
      policy,
      throttles.map(throttle(options, _)),
      guards.map(guard(options, _)).lastOption,
      options.duration("substream_idle_timeout", 1),
      names,
      options.count("expected", 1),
      options.count("max_substreams", 1).getOrElse(MaxSubstreams),
      options.choice("on_restart", RestartModes).getOrElse(true),
      substreams,
      ttl = ttl(options),
      maxClockStepMicros = options.duration("max_clock_step", 1),
      name = options.get("name")
    )
    options.refuseUnread()
    if (guards.length > 1) throw EventtideException("DUPLICATE_GUARD")
    if (!result.hasSubstreams && (names.nonEmpty || result.expectedCount.exists(_ > 1))) {
      throw EventtideException("EXPECTED_WITHOUT_SUBSTREAM")
    }
    if (result.areKafkaPartitions && result.ttlMicros.isDefined) {
      throw new InvalidArgument(
        Substreams.Ttl,
        PolicyFormatter.duration(result.ttlMicros.get),
        "absent: a Kafka partition is removed when its topic no longer has it"
      )
    }
    if (policy.isBySubstream && !result.hasSubstreams) {
      throw EventtideException("POLICY_WITHOUT_SUBSTREAM", "policy" -> policy.name)
    }
    if (policy.markColumns.length > 1) {
      val columns = policy.markColumns.mkString(", ")
      throw new InvalidArgument(s"${WatermarkFrom.Name}", columns, "of one column in a watermark")
    }
    if (policy.needsDeclaredSubstreams && names.isEmpty) {
      throw EventtideException("UNDECLARED_SUBSTREAMS", "policy" -> policy.name)
    }
    result
  }

  private def ttl(options: OptionReader): Option[SubstreamTtl] =
    if (options.get(Substreams.Ttl).contains(Never)) Some(SubstreamTtl.Never)
    else options.duration(Substreams.Ttl, 1).map(SubstreamTtl.After)

  /** The options of a watermark, as `watermark` reads them. */
  private[options] def write(settings: WatermarkSettings): Map[String, String] = {
    val throttles =
      settings.throttles.map(rule => rule.name -> PolicyFormatter.options(rule.kind, rule.values))
    val guards = settings.guard.map { guard =>
      val ahead = "max_ahead" -> PolicyFormatter.duration(guard.maxAhead)
      FutureGuard.name -> Seq(ahead, "on" -> guard.mode.name)
    }
    val decorators = (throttles ++ guards).zipWithIndex.flatMap { case ((name, options), i) =>
      val prefix = s"decorators.$i"
      (prefix -> name) +: options.map { case (key, value) => s"$prefix.$key" -> value }
    }
    val others = Seq(
      "substream_idle_timeout" -> settings.idleTimeoutMicros.map(PolicyFormatter.duration),
      "expected" -> settings.expectedCount.map(_.toString),
      "max_substreams" -> Some(settings.maxSubstreams.toString),
      Substreams.Ttl -> settings.ttl.map {
        case SubstreamTtl.After(micros) => PolicyFormatter.duration(micros)
        case SubstreamTtl.Never => Never
      },
      "max_clock_step" -> settings.maxClockStepMicros.map(PolicyFormatter.duration),
      "name" -> settings.name,
      "on_restart" -> RestartModes.find(_._2 == settings.holdsOnRestart).map(_._1)
    ).collect { case (option, Some(value)) => option -> value }
    val names = settings.expected.zipWithIndex.map { case (name, i) => s"expected.$i" -> name }
    (write(settings.policy, "") ++ decorators ++ others ++ names).toMap
  }

  /** The options of a policy, as `policy` reads them. */
  private[options] def write(spec: PolicySpec, prefix: String): Seq[(String, String)] = {
    val parameters = PolicyFormatter.options(spec.kind, spec.values).map { case (name, value) =>
      s"$prefix$name" -> value
    }
    val children = spec.children.zipWithIndex.flatMap { case (child, i) =>
      write(child, s"${prefix}of.$i.")
    }
    val patterns = spec.patterns.zipWithIndex.map { case (pattern, i) =>
      s"${prefix}of.$i.substream" -> pattern
    }
    (s"${prefix}policy" -> spec.name) +: (parameters ++ patterns ++ children)
  }

  private[options] def policy(options: OptionReader, prefix: String): PolicySpec = {
    val name = options.required(s"${prefix}policy", s"one of $policies")
    val kind = this.kind(options, prefix, name)
    val children = options.numbered(s"${prefix}of").map(child => policy(options, s"$child."))
    if (kind.takesChildren && children.isEmpty) {
      OptionReader.missing(s"${prefix}of.0.policy", s"a policy: $name combines one or more")
    }
    val values = kind.params.map(param => value(options, prefix, param, param.least))
    PolicySpec(kind, values, children, patterns = patterns(options, prefix, kind))
  }

  private def kind(options: OptionReader, prefix: String, name: String): PolicyKind =
    if (name == WatermarkFrom.Name) {
      val column = s"$prefix${WatermarkFrom.Column}"
      new WatermarkFrom(options.required(column, "it names the column with the watermarks"))
    } else if (name.startsWith(PythonPolicyKind.Prefix)) {
      val parameters = s"$prefix${PythonPolicyKind.Parameters}"
      val json = options.required(parameters, "it has the parameters of the policy in JSON")
      new PythonPolicyKind(name.stripPrefix(PythonPolicyKind.Prefix), json)
    } else {
      val kind = Policies.find(name)
      kind.foreach(refuseReserved)
      kind.getOrElse(OptionReader.unknown(s"${prefix}policy", name, policies))
    }

  // Parameters are options at the same level as the options of the watermark.
  private def refuseReserved(kind: PolicyKind): Unit =
    kind.params.map(_.name).find(Reserved).foreach { param =>
      throw new PolicyFailure(kind.name, s"its parameter $param has the name of another option")
    }

  /** The names of all policies. */
  private def policies: String =
    (Policies.builtIn.map(_.name) ++ Seq(WatermarkFrom.Name) ++ Policies.custom.map(_.name))
      .mkString(", ")

  private def patterns(options: OptionReader, prefix: String, kind: PolicyKind): Seq[String] =
    if (kind != BySubstream) Nil
    else
      options.numbered(s"${prefix}of").map { child =>
        options.required(s"$child.substream", "it names the substreams that have this policy")
      }

  private def throttle(options: OptionReader, prefix: String): ThrottleSpec = {
    val name = options.get(prefix).getOrElse("")
    val kind = Throttles.all.find(_.name == name).getOrElse {
      val names = Throttles.all.map(_.name) :+ FutureGuard.name
      OptionReader.unknown(prefix, name, names.mkString(", "))
    }
    ThrottleSpec(
      kind,
      kind.params.map(param => value(options, s"$prefix.", param, smallest(param)))
    )
  }

  private def smallest(param: ParamSpec): Long = if (param.least == 0) 0 else SmallestStep

  private def value(
      options: OptionReader,
      prefix: String,
      param: ParamSpec,
      least: Long
  ): Long = {
    val option = prefix + param.name
    val value = param.kind match {
      case ParamKind.Duration => options.duration(option, least)
      case ParamKind.Count => options.count(option, param.least.toInt).map(_.toLong)
      case ParamKind.Share => options.share(option)
      case ParamKind.Choice(words) => options.choice(option, words.zip(LazyList.iterate(0L)(_ + 1)))
    }
    value
      .orElse(param.default)
      .getOrElse(OptionReader.missing(option, s"a value, which defines ${param.doc}"))
  }

  private def guard(options: OptionReader, prefix: String): FutureGuard = {
    val ahead = options.duration(s"$prefix.max_ahead", 0).getOrElse {
      OptionReader.missing(
        s"$prefix.max_ahead",
        "a duration, by which a row may be ahead of the clock"
      )
    }
    val mode = options.choice(s"$prefix.on", GuardModes).getOrElse(FutureGuard.Clamp)
    FutureGuard(ahead, mode)
  }
}
