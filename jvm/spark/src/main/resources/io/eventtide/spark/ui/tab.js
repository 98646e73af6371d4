// The tab in Spark's UI: asks for the data of the chosen query, and shows it anew.
(() => {
  const period = 2000; // milliseconds between two requests
  const place = document.getElementById("eventtide");
  const choice = d3.select(place).append("select").attr("aria-label", "query");
  const query = d3.select(place).append("div").node();
  let shown = null; // the data on the page
  let asked = 0; // requests so far

  choice.on("change", () => { window.location.hash = choice.property("value"); update(); });

  function chosen() { return decodeURIComponent(window.location.hash.slice(1)); }

  async function update() {
    const wanted = new URLSearchParams({query: chosen()});
    if (shown) eventtideQuery.searches(shown).forEach(([i, text]) => wanted.set(`search-${i}`, text));
    const request = asked += 1;
    const answer = await fetch(`${place.dataset.url}?${wanted}`);
    if (!answer.ok) return;
    const data = await answer.json();
    if (request !== asked) return; // a later one has what the reader has typed since
    if (!data.query) {
      query.textContent = "No query with an Eventtide watermark has started.";
      return;
    }
    choice.selectAll("option").data(data.queries, one => one.id).join("option")
      .attr("value", one => one.id).property("selected", one => one.id === data.query.id)
      .text(one => one.title + (one.running ? "" : " (stopped)"));
    if (!shown || shown.id !== data.query.id) query.textContent = "";
    shown = data.query;
    eventtideQuery.show(query, data.query);
  }

  function again() {
    const wait = () => setTimeout(again, period);
    (document.hidden ? Promise.resolve() : update()).then(wait, wait);
  }

  window.addEventListener("hashchange", update);
  query.addEventListener("input", () => {
    if (shown && eventtideQuery.searches(shown).length) update();
  });
  again();
})();
