// Charts of a query's time, with d3. Times in the data are microseconds since 1970.
const eventtideCharts = (() => {
  const margin = {top: 12, right: 16, bottom: 26, left: 64};
  const roundLags = [1e3, 1e4, 1e5, 1e6, 1e7, 6e7, 6e8, 36e8, 216e8, 864e8, 864e9];
  const roundShares = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1];
  const millis = micros => micros / 1000;

  /** An SVG of the width of its place, with its inner size. */
  function canvas(place, label, height) {
    const box = d3.select(place).html("");
    const width = Math.max(280, place.clientWidth);
    const svg = box.append("svg").attr("role", "img").attr("aria-label", label)
      .attr("viewBox", `0 0 ${width} ${height}`);
    const inner = {width: width - margin.left - margin.right,
      height: height - margin.top - margin.bottom};
    const plot = svg.append("g").attr("transform", `translate(${margin.left},${margin.top})`);
    return {plot, ...inner};
  }

  function axes({plot, height}, across, up) {
    plot.append("g").attr("class", "axis").attr("transform", `translate(0,${height})`).call(across);
    plot.append("g").attr("class", "axis").call(up);
  }

  /** A time in UTC, as short as its place in time allows. */
  function clockTime(time) {
    if (d3.utcDay(time) >= time) return d3.utcFormat("%b %d")(time);
    return d3.utcFormat(d3.utcMinute(time) < time ? "%H:%M:%S" : "%H:%M")(time);
  }

  function legend(place, names) {
    const list = d3.select(place).append("p").attr("class", "legend");
    names.forEach(([style, text]) => list.append("span").attr("class", style).text(text));
  }

  function line(plot, points, x, y, name) {
    const path = d3.line().defined(point => point[1] !== null).x(p => x(p[0])).y(p => y(p[1]));
    plot.append("path").datum(points).attr("class", `line ${name}`).attr("d", path);
  }

  /** The watermark, the leading substream and the clock, over the batches. */
  function time(place, data) {
    const batches = data.batches.filter(batch => batch.at > 0);
    const at = batches.map(batch => millis(batch.at));
    const series = {
      clock: batches.map((batch, i) => [at[i], at[i]]),
      leader: batches.map((batch, i) => [at[i], batch.leader === null ? null : millis(batch.leader)]),
      watermark: batches.map((batch, i) =>
        [at[i], batch.watermark === null ? null : millis(batch.watermark)]),
    };
    const [first, last] = d3.extent(at);
    const rows = (data.rows || []).map(row => row.map(millis))
      .filter(([arrival]) => arrival >= first && arrival <= last);
    const events = [...series.leader, ...series.watermark, ...rows].map(p => p[1]).filter(t => t !== null);
    if (!events.length) { place.textContent = "No batch has a watermark yet."; return; }
    const chart = canvas(place, "Event time over the time of batches", 240);
    const x = d3.scaleUtc(d3.extent(at), [0, chart.width]);
    const y = d3.scaleUtc(d3.extent(events), [chart.height, 0]).nice();
    axes(chart, d3.axisBottom(x).ticks(chart.width / 110).tickFormat(clockTime),
      d3.axisLeft(y).ticks(5).tickFormat(clockTime));
    const [low, high] = y.domain();
    const clock = series.clock.filter(p => p[1] >= +low && p[1] <= +high);
    chart.plot.append("g").attr("class", "rows").selectAll("circle").data(rows).join("circle")
      .attr("r", 1.5).attr("cx", row => x(row[0])).attr("cy", row => y(row[1]));
    line(chart.plot, clock, x, y, "clock");
    line(chart.plot, series.leader, x, y, "leader");
    line(chart.plot, series.watermark, x, y, "watermark");
    const names = [["watermark", "watermark"], ["leader", "the leading substream"]];
    if (clock.length) names.push(["clock", "the clock"]);
    if (rows.length) names.push(["rows", "rows of the sample"]);
    legend(place, names);
    if (data.rows && !rows.length) {
      d3.select(place).append("p").text("No row of the files arrived during these batches.");
    }
  }

  /** The late rows of each batch by reason, as a share of its rows. */
  function late(place, data) {
    const reasons = [...new Set(data.batches.flatMap(batch => Object.keys(batch.late)))].sort();
    const shares = d3.pairs(data.batches).map(([before, batch]) => {
      const counts = reasons.map(name => (batch.late[name] || 0) - (before.late[name] || 0));
      const rows = d3.sum(counts) + batch.onTime - before.onTime;
      return {id: batch.id, rows, shares: counts.map(count => count / rows)};
    }).filter(batch => batch.rows > 0);
    if (!reasons.length || !shares.length) {
      place.textContent = "No late row of a window in these batches. Spark's own operators count " +
        "theirs in the tab Structured Streaming.";
      return;
    }
    const chart = canvas(place, "Share of late rows by batch", 160);
    const x = d3.scaleBand(shares.map(one => one.id), [0, chart.width]).padding(0.1);
    const most = d3.max(shares, one => d3.sum(one.shares)) || 1;
    const y = d3.scaleLinear([0, most], [chart.height, 0]).nice();
    const every = Math.ceil(shares.length / Math.max(2, chart.width / 60));
    axes(chart, d3.axisBottom(x).tickValues(x.domain().filter((_, i) => i % every === 0)),
      d3.axisLeft(y).ticks(5, ".2~%"));
    const stacks = d3.stack().keys(d3.range(reasons.length)).value((one, i) => one.shares[i])(shares);
    chart.plot.append("g").selectAll("g").data(stacks).join("g")
      .attr("class", (_, i) => `reason r${i}`)
      .selectAll("rect").data(stack => stack).join("rect")
      .attr("x", bar => x(bar.data.id)).attr("width", x.bandwidth())
      .attr("y", bar => y(bar[1])).attr("height", bar => y(bar[0]) - y(bar[1]))
      .append("title").text(bar => `batch ${bar.data.id}: ${d3.format(".3~%")(bar[1] - bar[0])}`);
    legend(place, reasons.map((name, i) => [`r${i}`, name]));
  }

  /** The share of rows that would be late with each lag, with marks at some lags. */
  function curve(place, input) {
    const steps = (input.disorder || {}).recent || [];
    const rows = d3.sum(steps, step => step[1]);
    let left = rows;
    const foot = 0.5 / rows; // no row is late: a logarithmic axis has no zero
    const points = steps.map(([lag, count]) =>
      [Math.max(lag, 1000), Math.max(foot, (left -= count) / rows)]);
    if (!steps.some(step => step[0] > 0)) {
      place.textContent = "No row has been out of order.";
      return;
    }
    points.unshift([1000, steps[0][0] > 1000 ? 1 : points[0][1]]);
    const marks = Object.entries(input.lags || {}).filter(mark => mark[1] >= 1000);
    const chart = canvas(place, "Share of late rows by lag", 200);
    const x = d3.scaleLog(d3.extent([...points, ...marks.map(mark => [mark[1]])], p => p[0]),
      [0, chart.width]);
    const y = d3.scaleLog([foot, 1], [chart.height, 0]);
    const inside = (values, [low, high]) => values.filter(one => one >= low && one <= high);
    axes(chart, d3.axisBottom(x).tickValues(inside(roundLags, x.domain())).tickFormat(duration),
      d3.axisLeft(y).tickValues(inside(roundShares, y.domain())).tickFormat(d3.format(".3~%")));
    line(chart.plot, points, x, y, "watermark");
    for (const [name, lag] of marks) {
      chart.plot.append("line").attr("class", "mark").attr("x1", x(lag)).attr("x2", x(lag))
        .attr("y2", chart.height);
      const isRight = x(lag) > chart.width * 0.7;
      chart.plot.append("text").attr("x", x(lag) + (isRight ? -4 : 4)).attr("y", 10)
        .attr("text-anchor", isRight ? "end" : "start").text(`${name}: ${duration(lag)}`);
    }
  }

  /** A time in UTC. */
  function utc(micros) {
    const date = new Date(micros / 1000);
    if (micros === null || isNaN(date)) return "-"; // a date has 275 760 years at most
    return date.toISOString().replace("T", " ").replace(/\.?0*Z$/, "");
  }

  /** A duration in microseconds, in its two largest units. */
  function duration(micros) {
    const units = [["d", 864e8], ["h", 36e8], ["m", 6e7], ["s", 1e6], ["ms", 1e3]];
    const parts = [];
    let left = Math.abs(micros);
    for (const [name, size] of units) {
      if (left >= size && parts.length < 2) parts.push(`${Math.floor(left / size)}${name}`);
      left %= size;
    }
    return (micros < 0 ? "-" : "") + (parts.join(" ") || "0s");
  }

  return {time, late, curve, duration, utc};
})();
