// A query: what holds its watermark, its charts and its substreams.
const eventtideQuery = (() => {
  const views = new Map();

  function part(place, name, title, show) {
    let section = place.querySelector(`[data-part="${name}"]`);
    if (!section) {
      section = d3.select(place).append("section").attr("data-part", name).node();
      d3.select(section).append("h3").text(title);
      d3.select(section).append("div").attr("class", "chart");
    }
    show(section.querySelector(".chart"));
  }

  /** Shows the data, or shows newer data in the same place. */
  function show(place, data) {
    if (!place.querySelector(".blame")) d3.select(place).append("p").attr("class", "blame");
    place.querySelector(".blame").textContent = data.blame;
    part(place, "time", "Event time", chart => eventtideCharts.time(chart, data));
    part(place, "late", "Late rows", chart => eventtideCharts.late(chart, data));
    if (data.windows.length) {
      const last = data.batches[data.batches.length - 1];
      part(place, "windows", "Windows", table =>
        eventtideWindows.show(table, data.windows, last && last.watermark));
    }
    data.inputs.forEach(input => {
      const label = input.name || (data.inputs.length > 1 ? `input ${input.position}` : "");
      const of = label ? `: ${label}` : "";
      if (!views.has(input.position)) views.set(input.position, eventtideSubstreams.view());
      part(place, `substreams-${input.position}`, `Substreams${of}`, table =>
        eventtideSubstreams.show(table, input, views.get(input.position)));
      part(place, `curve-${input.position}`, `What each lag costs${of}`, chart =>
        eventtideCharts.curve(chart, input));
    });
  }

  /** What a reader has typed, for inputs with more substreams than the data list. */
  function searches(data) {
    return data.inputs.filter(input => input.substreams.length < input.substreamCount)
      .map(input => [input.position, views.get(input.position).search]).filter(([, text]) => text);
  }

  return {show, searches};
})();
