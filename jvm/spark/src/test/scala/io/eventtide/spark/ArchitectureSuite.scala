package io.eventtide.spark

import com.tngtech.archunit.base.DescribedPredicate
import com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage
import com.tngtech.archunit.core.domain.{JavaClass, JavaClasses}
import com.tngtech.archunit.core.importer.{ClassFileImporter, ImportOption}
import com.tngtech.archunit.lang.ArchRule
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition.{classes, noClasses}
import com.tngtech.archunit.library.Architectures.layeredArchitecture
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

/** The layers of `docs/architecture.md`. Each rule is tried on classes that break it as well: those of
  * `PlantedViolations`.
  */
@Slow
final class ArchitectureSuite extends AnyFunSuite {
  import ArchitectureSuite._

  private val ours: JavaClasses =
    new ClassFileImporter().withImportOption(NoTests).importPackages(Ours: _*)

  private val planted: JavaClasses = new ClassFileImporter().importPackages(Planted)

  private def holds(name: String)(rule: String => ArchRule): Unit = {
    test(name) {
      rule(Base).check(ours)
    }
    test(s"$name: what breaks it is found") {
      val result = rule(Planted).allowEmptyShould(true).evaluate(planted)
      assert(result.hasViolation)
    }
  }

  holds("dependencies of jvm/spark point down")(layers)

  holds("no packages of jvm/spark depend on each other") { base =>
    slices().matching(s"$base.spark.(**)").should().beFreeOfCycles()
  }

  holds("the kernel knows nothing but itself") { base =>
    classes()
      .that()
      .resideInAPackage(s"$base.kernel..")
      .should()
      .onlyDependOnClassesThat()
      .resideInAnyPackage(s"$base.kernel..", "java..", "scala..")
  }

  holds("no packages of the kernel depend on each other") { base =>
    slices().matching(s"$base.kernel.(**)").should().beFreeOfCycles()
  }

  holds("the bridges into Spark's packages know nothing of ours") { base =>
    val bridges = if (base == Base) Bridges else Seq(s"$base.bridge..")
    noClasses()
      .that()
      .resideInAnyPackage(bridges: _*)
      .should()
      .dependOnClassesThat()
      .resideInAPackage(s"$base.spark..")
  }

  holds("only connect uses Spark Connect, which a session may lack") { base =>
    noClasses()
      .that()
      .resideInAPackage(s"$base.spark..")
      .and()
      .resideOutsideOfPackage(s"$base.spark.connect..")
      .should()
      .dependOnClassesThat()
      .resideInAnyPackage(
        "org.apache.spark.sql.connect..",
        "org.apache.spark.connect..",
        "org.sparkproject.."
      )
  }

  test("every package of jvm/spark is in a layer") {
    val inLayers = Layers.flatMap(_._2).map(room => s"$Base.spark.$room")
    val others = ours.stream
      .map[String](_.getPackageName)
      .filter(name => name.startsWith(s"$Base.spark.") && !inLayers.contains(name))
    assert(others.distinct.toArray.isEmpty)
  }
}

object ArchitectureSuite {
  private val Base = "io.eventtide"
  private val Planted = "io.eventtide.planted"
  private val NoTests: ImportOption = !_.contains("/test-classes/")
  private val Bridges =
    Seq("org.apache.spark.sql.eventtide..", "org.apache.spark.sql.connect.eventtide..")
  private val Ours = Seq(s"$Base.spark", s"$Base.kernel") ++ Bridges.map(_.stripSuffix(".."))

  /** From top to bottom, each with its packages; a layer knows only those below. */
  private val Layers = Seq(
    "connect" -> Seq("connect"),
    "builders of other systems" -> Seq("storm", "voltsp"),
    "api" -> Seq("api", "sql"),
    "test kit" -> Seq("testkit"),
    "repair" -> Seq("repair"),
    "planning" -> Seq("planning"),
    "source" -> Seq("source"),
    "doctor" -> Seq("query.doctor"),
    "ui" -> Seq("query.ui"),
    "history" -> Seq("query.history"),
    "state of a checkpoint" -> Seq("query.state"),
    "lab" -> Seq("query.lab"),
    "run" -> Seq("query.run"),
    "monitor" -> Seq("query.monitor"),
    "windows" -> Seq("operators.window"),
    "pre-aggregation" -> Seq("operators.preagg"),
    "late rows and watermarks" -> Seq("operators.late", "operators.watermark"),
    "operators" -> Seq("operators"),
    "late log" -> Seq("latelog"),
    "checkpoint" -> Seq("checkpoint"),
    "spi" -> Seq("spi"),
    "state" -> Seq("state"),
    "options" -> Seq("options"),
    "policies" -> Seq("policies")
  )

  /** What users name is below the first two layers only, and what all of it throws is below all, in one
    * package.
    */
  private val Below = Seq("EventtideException", "ErrorCatalogue", "BuildInfo")

  private def layers(base: String): ArchRule = {
    val packages = Layers.map { case (name, rooms) =>
      val inside: DescribedPredicate[_ >: JavaClass] =
        resideInAnyPackage(rooms.map(room => s"$base.spark.$room"): _*)
      name -> inside.forSubtype[JavaClass]
    }
    val onTop = new DescribedPredicate[JavaClass]("what users name") {
      override def test(of: JavaClass): Boolean =
        of.getPackageName == s"$base.spark" &&
          !Below.exists(of.getName.split('.').last.startsWith)
    }
    val (builders, below) = packages.splitAt(2)
    val all = builders ++ (("users" -> onTop) +: below)
    val declared = all.foldLeft(layeredArchitecture().consideringOnlyDependenciesInLayers()) {
      case (made, (name, inside)) => made.optionalLayer(name).definedBy(inside)
    }
    all.zipWithIndex.tail.foldLeft(
      declared.whereLayer(all.head._1).mayNotBeAccessedByAnyLayer()
    ) { case (made, ((name, _), i)) =>
      made.whereLayer(name).mayOnlyBeAccessedByLayers(all.take(i).map(_._1): _*)
    }
  }
}
