// The table of a query's windows: what is open, and what closes next.
const eventtideWindows = (() => {
  const heads = ["window", "keys with open windows", "next to close", "at the watermark", "still to go"];

  function toGo(one, watermark) {
    if (one.closesAt === null) return "-";
    if (one.byClock !== null) return `by the clock at ${eventtideCharts.utc(one.byClock)}`;
    if (one.hasOwnTime || watermark === undefined || watermark === null) return "-";
    return eventtideCharts.duration(Math.max(0, one.closesAt - watermark));
  }

  function cells(one, watermark) {
    const next = one.closesAt === null ? "none is open" : one.next;
    const keys = one.keys === null ? "-" : d3.format(",")(one.keys);
    return [one.window, keys, next, eventtideCharts.utc(one.closesAt), toGo(one, watermark)];
  }

  /** Shows the windows of a query, whose last batch ended with a watermark. */
  function show(place, windows, watermark) {
    const table = d3.select(place).html("").append("div").attr("class", "scroll").append("table");
    table.append("thead").append("tr").selectAll("th").data(heads).join("th").text(head => head);
    table.append("tbody").selectAll("tr").data(windows).join("tr")
      .selectAll("td").data(one => cells(one, watermark)).join("td").text(text => text);
  }

  return {show};
})();
