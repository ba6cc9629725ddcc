/* The calculator of the page on cost. It works offline.
 *
 * Prices and quantities are read from the tables of the page itself, so the two cannot differ. A schedule needs, of
 * each thing, a number that lies between the columns "bursts" (all batches are full) and "trickle" (each schedule is
 * alone in its batch).
 */
(() => {
  "use strict";

  const KB = 1024;
  const GB_MEMORY = { small: 0.25, executor: 0.375 };
  const ENVELOPE = 600; // bytes of a record beside its payload: id, owner, action, times
  const DEFAULT = 3; // actions, that of the canary not counted
  const SHIPPED = 7;

  const number = (text) => Number(text.replace(/[$,*]/g, ""));
  const text = (cell) => cell.textContent.trim();

  /** The rows of the first table behind a heading: a list of cells for each. */
  function table(heading) {
    const start = document.getElementById(heading);
    const follows = (one) => start.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING;
    const found = [...document.querySelectorAll("table")].find(follows);
    return [...found.tBodies[0].rows].map((row) => [...row.cells].map(text));
  }

  /** What begins so, in the first column. */
  function row(rows, beginning) {
    const found = rows.find(([name]) => name.startsWith(beginning));
    if (!found) throw new Error(`the page has no row "${beginning}"`);
    return found;
  }

  /** Dollars for a million, by what is billed. */
  function prices() {
    const rows = table("prices");
    const of = (beginning) => number(row(rows, beginning)[1]);
    return {
      write: of("DynamoDB write unit"),
      read: of("DynamoDB read unit"),
      queue: of("SQS request"),
      call: of("HTTP API request"),
      invocation: of("Lambda invocation"),
      second: of("Lambda GB-second"),
      publish: of("SNS publish"),
    };
  }

  /** A month of a stack in which nothing happens. */
  function idle() {
    const found = [...document.querySelectorAll("table tbody tr")].map((one) => [...one.cells].map(text));
    const of = (name) => number(row(found, name).at(-1));
    return { fires: of("what fires"), watches: of("what watches"), executor: of("an executor"), poller: number(row(table("prices"), "a provisioned poller")[1].split(" ")[0]) * 720 };
  }

  /** The bill of a month, in dollars. `load` has the fields of the form (FIELDS). */
  function bill(load) {
    const price = prices();
    const firing = table("a-million-schedules");
    const journal = table("the-journal");
    const beside = table("what-comes-with-it");
    const between = (bursts, trickle) => load.bursts * bursts + (1 - load.bursts) * trickle;
    const of = (rows, beginning) => {
      const cells = row(rows, beginning);
      return between(number(cells[1]), number(cells[3]));
    };
    const kept = (beginning) => between(...row(beside, beginning).slice(1).map(number));
    const size = load.payload + ENVELOPE;
    const record = Math.ceil(size / KB);
    const message = Math.ceil(size / (64 * KB));
    const chunks = between(Math.ceil((10 * size) / (64 * KB)) / 10, message); // of a send or a receive
    const [put, read] = { none: [record, 0], group: [2 * record + 2, 1], name: [2 * record + 4, 1] }[load.named];
    const attempt = (0.5 + load.target) * GB_MEMORY.executor * price.second;

    const lines = {
      "the API and its function":
        (load.posted === "batches" ? 0.01 : 1) * (price.call + price.invocation) + 0.02 * GB_MEMORY.small * price.second,
      "writes of the table and the ledger": (put + record + 2) * price.write,
      "reads of the table and the ledger": (of(firing, "read: ledger") + of(firing, "read: sweep") + read) * price.read,
      "two queues: send, receive, delete": 2 * (2 * chunks + between(0.1, 1)) * price.queue,
      "functions that fire":
        of(firing, "invocations of enqueuer") * price.invocation +
        between(0.004 + 0.01, 0.04 + 0.1) * GB_MEMORY.small * price.second +
        between(0.1, 1) * attempt,
      "logs, ledger rows and fair queues": kept("together"),
      retries: load.retries * (2.15 + attempt),
      "lifecycle events":
        of(journal, "stream-lifecycle") * price.invocation +
        (of(journal, "SNS publishes") + message - 1) * price.publish,
      "the journal":
        (of(journal, "journal queue") + 2 * (message - 1)) * price.queue +
        of(journal, "lifecycle-journal") * price.invocation +
        (of(journal, "writes: the definition") + record - 1) * price.write,
    };
    lines["the journal"] += kept("journal");
    if (!load.retries) delete lines.retries;
    if (load.lifecycle === "off") delete lines["lifecycle events"];
    if (load.lifecycle !== "journal") delete lines["the journal"];

    const month = Object.entries(lines).map(([name, dollars]) => [name, (dollars * load.schedules) / 1e6]);
    const stack = idle();
    const saved = (DEFAULT - load.actions) * stack.executor;
    month.push(["the stack, when nothing is scheduled", stack.fires + stack.watches - saved]);
    // Those of the relay, of http-request, and two of each other executor; that of the canary is one more.
    if (load.scale === "large") month.push(["pollers that are ready", (30 + 40 + 2 * load.actions) * stack.poller]);
    return {
      lines: month,
      month: month.reduce((sum, [, dollars]) => sum + dollars, 0),
      million: Object.values(lines).reduce((sum, dollars) => sum + dollars, 0),
    };
  }

  /** What the others take for as many schedules: dollars a month, by the table of the page. */
  function others(load) {
    return table("beside-the-alternatives").map(([name, price, each, free]) => [
      name,
      (Math.max(0, load.schedules * number(each) - number(free)) * number(price)) / 1e6,
    ]);
  }

  const FIELDS = [
    { name: "schedules", label: "Schedules a month", value: 1000000, min: 0, max: 100000000000 },
    { name: "bursts", label: "How they fall due", value: "0.5", options: {
      "1": "in bursts: all batches are full", "0.5": "half of them in bursts", "0": "in a trickle: each is alone" } },
    { name: "payload", label: "Bytes of the payload", value: 200, min: 0, max: 262144 },
    { name: "target", label: "Seconds until the target answers", value: 0.1, min: 0, max: 30, step: 0.05 },
    { name: "retries", label: "Retries for each schedule, on average", value: 0, min: 0, max: 99, step: 0.01 },
    { name: "posted", label: "How they are posted", value: "one", options: {
      one: "one by one", batches: "in batches of 100" } },
    { name: "named", label: "What each one has", value: "none", options: {
      none: "no name, group or key", group: "a group or an idempotency key", name: "a name" } },
    { name: "lifecycle", label: "Lifecycle", value: "journal", options: {
      journal: "journal: events and histories", events: "events", off: "off" } },
    { name: "actions", label: "Actions in the stack, that of the canary not counted", value: DEFAULT, min: 1, max: SHIPPED },
    { name: "scale", label: "Scale", value: "small", options: { small: "small", large: "large" } },
  ];

  function element(tag, properties = {}, children = []) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  function input({ name, value, options, min, max, step = 1 }) {
    if (!options) return element("input", { id: `cost-${name}`, name, type: "number", value, min, max, step, required: true });
    const choices = Object.entries(options).map(([key, label]) =>
      element("option", { value: key, textContent: label, selected: key === value }));
    return element("select", { id: `cost-${name}`, name }, choices);
  }

  /** The fields as `bill` takes them; undefined while one is out of its bounds. */
  function load(form) {
    if (!form.checkValidity()) return undefined;
    const words = ["posted", "named", "lifecycle", "scale"];
    return Object.fromEntries([...new FormData(form)].map(([name, value]) =>
      [name, words.includes(name) ? value : Number(value)]));
  }

  const dollars = (amount) => amount.toLocaleString("en-US", { style: "currency", currency: "USD" });

  function rows(pairs, strong) {
    return pairs.map(([name, amount]) => element("tr", {}, [
      element("td", {}, [strong ? element("strong", { textContent: name }) : name]),
      element("td", { className: "cost-amount" }, [strong ? element("strong", { textContent: dollars(amount) }) : dollars(amount)]),
    ]));
  }

  function answer(given) {
    if (!given) return [element("p", { textContent: "A field is empty or out of its bounds; the sum appears when all are valid." })];
    const { lines, month, million } = bill(given);
    return [
      element("table", {}, [
        element("thead", {}, [element("tr", {}, [
          element("th", { textContent: "Delayer, a month" }), element("th", { textContent: "dollars" })])]),
        element("tbody", {}, [...rows(lines), ...rows([["together", month], ["each million more", million]], true)]),
      ]),
      element("table", {}, [
        element("thead", {}, [element("tr", {}, [
          element("th", { textContent: "the same number elsewhere, a month" }), element("th", { textContent: "dollars" })])]),
        element("tbody", {}, rows(others(given))),
      ]),
    ];
  }

  function show(place) {
    const fields = FIELDS.map((field) => element("p", {}, [
      element("label", { htmlFor: `cost-${field.name}`, textContent: field.label }), input(field)]));
    const form = element("form", { className: "cost-form" }, fields);
    const output = element("div", { className: "cost-answer" });
    output.setAttribute("role", "status");
    const refresh = () => output.replaceChildren(...answer(load(form)));
    form.addEventListener("input", refresh);
    form.addEventListener("submit", (event) => event.preventDefault());
    place.replaceChildren(form, output);
    refresh();
  }

  window.delayerCost = { bill, others, prices, idle };
  const place = document.getElementById("calculator");
  if (place) show(place);
})();
