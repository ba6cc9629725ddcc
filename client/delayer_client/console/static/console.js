// What the pages get from script: the browser's own time zone, the chart, and a word when a page cannot be renewed.
"use strict";
(() => {
  const locale = undefined; // the browser's
  const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false };
  const date = { month: "short", day: "numeric" };
  const format = (fields) => new Intl.DateTimeFormat(locale, fields);
  const formats = { clock: format(clock), day: format({ ...date, ...clock }), year: format({ year: "numeric", ...date, ...clock }) };
  const worded = (at, as) => {
    const now = new Date();
    if (as === "clock" || at.toDateString() === now.toDateString()) return formats.clock.format(at);
    return (at.getFullYear() === now.getFullYear() ? formats.day : formats.year).format(at);
  };

  const localize = (root) => {
    for (const one of root.querySelectorAll("time[data-as]")) {
      if (one.title) continue;
      one.title = one.textContent.trim();
      one.textContent = worded(new Date(one.dateTime), one.dataset.as);
    }
    for (const one of root.querySelectorAll("text[data-time]")) {
      const at = new Date(one.dataset.time);
      const isToday = at.toDateString() === new Date().toDateString();
      // Between two stations there is no room for a year.
      one.textContent = isToday ? formats.clock.format(at) + "." + Math.floor(at.getMilliseconds() / 100) : formats.day.format(at);
    }
  };

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const charts = [];
  const draw = (root) => {
    for (const chart of charts.splice(0)) chart.destroy();
    if (!window.uPlot) return;
    for (const place of root.querySelectorAll("[data-plot]")) {
      const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
      const points = { label: "ms late", stroke: colour("--accent"), paths: () => null, points: { show: true, size: 6, fill: colour("--accent") } };
      const options = {
        width: place.clientWidth, height: place.clientHeight, legend: { show: false }, cursor: { show: false },
        scales: { y: { range: (_, low, high) => [0, Math.max(high * 1.1, 10)] } },
        axes: [{ ...axis, size: 26, space: 90, values: (_, at) => at.map((one) => formats.clock.format(new Date(one * 1000))) },
               { ...axis, size: 58, values: (_, all) => all.map((one) => one.toLocaleString()) }],
        series: [{}, points],
      };
      charts.push(new window.uPlot(options, JSON.parse(place.dataset.plot), place));
    }
  };

  // Where what can be scrolled was; the path begins where the schedule is, which a narrow screen would not show.
  const scrolled = {};
  const remember = () => { for (const one of document.querySelectorAll("#live .scroll[id]")) scrolled[one.id] = one.scrollLeft; };
  const scroll = () => {
    for (const one of document.querySelectorAll("#live .scroll[id]")) one.scrollLeft = scrolled[one.id] ?? one.scrollLeft;
    const path = document.getElementById("path");
    if (!path || "path" in scrolled) return;
    const here = path.querySelector(".station.here") ?? [...path.querySelectorAll(".station")].pop();
    if (here) path.scrollLeft += here.getBoundingClientRect().left - path.getBoundingClientRect().left - path.clientWidth / 2;
  };

  // What is beside the renewed part, such as the buttons, follows from the state: with another one it is renewed, too.
  const stateNow = () => document.getElementById("live")?.dataset.state;
  let state;

  const renewRest = () => {
    if (!document.getElementById("rest")) return location.reload();
    window.htmx.ajax("GET", location.href, { target: "#rest", select: "#rest", swap: "outerHTML" });
  };

  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  // A time is typed by the clock of the browser; without script, by that of UTC.
  const nameZone = () => {
    const given = document.querySelector("input[name=zone]");
    if (!given || !zone) return;
    given.value = zone;
    document.getElementById("at-zone").textContent = zone;
  };
  const show = (root) => { localize(root); nameZone(); draw(document); scroll(); };
  const trouble = (text) => {
    const place = document.getElementById("trouble");
    place.textContent = text;
    place.hidden = !text;
  };

  document.addEventListener("DOMContentLoaded", () => {
    show(document);
    state = stateNow();
    const place = document.getElementById("zone");
    if (place && zone) place.textContent = `Times, also those that you type, are those of ${zone}; UTC is shown on pointing at one. Those marked UTC are in UTC.`;
  });
  document.addEventListener("htmx:beforeSwap", remember);
  document.addEventListener("htmx:afterSwap", () => {
    trouble("");
    show(document);
    if (stateNow() === state) return;
    state = stateNow();
    renewRest();
  });
  document.addEventListener("htmx:beforeRequest", (event) => { if (document.hidden) event.preventDefault(); });
  document.addEventListener("htmx:responseError", (event) => trouble(`This page could not be renewed (${event.detail.xhr.status}). What you see is as it was.`));
  document.addEventListener("htmx:sendError", () => trouble("The console does not answer. What you see is as it was."));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    event.preventDefault();
    document.getElementById("q").focus();
  });
  let waiting;
  addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(() => draw(document), 150); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(document));
})();
