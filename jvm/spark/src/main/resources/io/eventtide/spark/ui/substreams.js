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
    const top = d3.max(input.substreams, one => one.top);
    const rows = input.substreams.map(one =>
      ({...one, lag: one.top === null || top === undefined ? null : top - one.top}));
    const holder = d3.least(rows.filter(one => one.state !== "idle"), one => one.watermark ?? -Infinity);
    const found = rows.filter(one => one.name.includes(view.search));
    const column = columns[view.column];
    const order = view.ascending ? d3.ascending : d3.descending;
    found.sort((one, other) => order(column.of(one) ?? Infinity, column.of(other) ?? Infinity));

    const box = d3.select(place).html("");
    const search = box.append("input").attr("type", "search").attr("placeholder", "search")
      .attr("aria-label", "search substreams").property("value", view.search);
    search.on("input", event => {
      view.search = event.target.value;
      show(place, input, view);
      place.querySelector("input").focus();
    });
    box.append("span").attr("class", "count")
      .text(`${d3.format(",")(found.length)} of ${d3.format(",")(input.substreamCount)}`);
    const table = box.append("div").attr("class", "scroll").append("table");
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
      .classed("holder", one => holder !== undefined && one.name === holder.name)
      .selectAll("td").data(one => columns.map(column => column.text(one))).join("td").text(text => text);
    if (found.length > most) box.append("p").text(`The first ${most} are shown: search for others.`);
  }

  return {show, view: () => ({column: 1, ascending: false, search: ""})};
})();
