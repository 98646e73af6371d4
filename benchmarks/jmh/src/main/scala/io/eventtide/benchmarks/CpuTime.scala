package io.eventtide.benchmarks

import java.lang.management.ManagementFactory
import java.util.{Collection => JavaCollection, List => JavaList}

import org.openjdk.jmh.infra.{BenchmarkParams, IterationParams}
import org.openjdk.jmh.profile.InternalProfiler
import org.openjdk.jmh.results.{AggregationPolicy, IterationResult, Result, ScalarResult}

/** A JMH profiler: nanoseconds of CPU time for each operation, as `cpu.norm`.
  *
  * The benchmarks have one thread, so on a quiet machine this is what the wall clock says; on a
  * machine that others use too it leaves out the time that they had.
  */
final class CpuTime extends InternalProfiler {
  private val threads = ManagementFactory.getThreadMXBean
  private var before = 0L

  override def getDescription: String = "CPU time for each operation"

  override def beforeIteration(benchmark: BenchmarkParams, iteration: IterationParams): Unit =
    before = used()

  override def afterIteration(
      benchmark: BenchmarkParams,
      iteration: IterationParams,
      result: IterationResult
  ): JavaCollection[_ <: Result[_]] = {
    val each = (used() - before).toDouble / result.getMetadata.getAllOps.toDouble
    JavaList.of(new ScalarResult("cpu.norm", each, "ns/op", AggregationPolicy.AVG))
  }

  /** Of all threads of Java; one that has ended since it was listed says -1. */
  private def used(): Long =
    threads.getAllThreadIds.map(threads.getThreadCpuTime).filter(_ > 0).sum
}
