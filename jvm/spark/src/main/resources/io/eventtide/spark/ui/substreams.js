// The table of an input's substreams: sorted by a click, searched by name.
const eventtideSubstreams = (() => {
  const most = 200; // rows of a table: more would only be slow

  const columns = [
    {title: "substream", of: one => one.name, text: one => one.name},
    {title: "lag", of: one => one.lag, text: one => one.lag === null ? "-" : eventtideCharts.duration(one.lag)},
    {title: "watermark", of: one => one.watermark, text: one => eventtideCharts.utc(one.watermark)},
    {title: "highest time", of: one => one.top, text: one => eventtideCharts.utc(one.top)},
    {title: "state", of: one => one.state, text: one => one.state},
    {title: "reason", of: one => one.reason, text: one => one.reason},
    {title: "since", of: one => one.since, text: one => eventtideCharts.utc(one.since)},
    {title: "rows", of: one => one.rowsTotal, text: one => d3.format(",")(one.rowsTotal)},
  ];

  /** Shows an input; `view` keeps the order and the search from one update to the next. */
  function show(place, input, view) {
    const rows = input.substreams.map(one =>
      ({...one, lag: one.top === null || input.highest === null ? null : input.highest - one.top}));
    const found = rows.filter(one => one.name.includes(view.search));
    const column = columns[view.column];
    const order = view.ascending ? d3.ascending : d3.descending;
    found.sort((one, other) => order(column.of(one) ?? Infinity, column.of(other) ?? Infinity));

    const box = d3.select(place);
    if (box.select("input").empty()) begin(box, place, view);
    view.input = input;
    box.select(".count")
      .text(`${d3.format(",")(found.length)} of ${d3.format(",")(input.substreamCount)}`);
    const table = box.select(".scroll").html("").append("table");
    table.append("thead").append("tr").selectAll("th").data(columns).join("th")
      .attr("aria-sort", (_, i) => i === view.column ? (view.ascending ? "ascending" : "descending") : null)
      .append("button").text(one => one.title)
      .on("click", (_, one) => {
        const i = columns.indexOf(one);
        view.ascending = i === view.column ? !view.ascending : i === 0;
        view.column = i;
        show(place, input, view);
      });
    table.append("tbody").selectAll("tr").data(found.slice(0, most)).join("tr")
      .classed("holder", one => one.name === input.holder)
      .selectAll("td").data(one => columns.map(column => column.text(one))).join("td").text(text => text);
    box.select(".more")
      .text(found.length > most ? `The first ${most} are shown: search for others.` : "");
  }

  /** Makes the parts that stay when newer data are shown: a reader may be typing. */
  function begin(box, place, view) {
    box.html("").append("input").attr("type", "search").attr("placeholder", "search")
      .attr("aria-label", "search substreams").property("value", view.search)
      .on("input", event => {
        view.search = event.target.value;
        show(place, view.input, view);
      });
    box.append("span").attr("class", "count");
    box.append("div").attr("class", "scroll");
    box.append("p").attr("class", "more");
  }

  return {show, view: () => ({column: 1, ascending: false, search: ""})};
})();
