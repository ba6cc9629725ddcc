// What scrolls sideways can be scrolled with the keyboard, too: it takes the focus, and its name says what it is.
// The theme does so for code, but not for tables and diagrams. `document$` is the theme's: a page is there.

const SCROLLS = { ".md-typeset__scrollwrap": "Table", "div.mermaid": "Diagram" };

function nameOf(kind, place) {
  const headings = [...document.querySelectorAll("article :is(h1, h2, h3, h4)")].filter(
    (one) => one.compareDocumentPosition(place) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  const last = headings.pop();
  return last ? `${kind}: ${last.textContent.replace("¶", "").trim()}` : kind;
}

function mark(place, kind) {
  const scrolls = place.scrollWidth > place.clientWidth;
  const values = { tabindex: "0", role: "region", "aria-label": nameOf(kind, place) };
  for (const [name, value] of Object.entries(values)) {
    if (scrolls) place.setAttribute(name, value);
    else place.removeAttribute(name);
  }
}

function markAll() {
  for (const [places, kind] of Object.entries(SCROLLS))
    for (const place of document.querySelectorAll(places)) mark(place, kind);
}

// Swagger UI stands in a frame; neither the frame nor what can be chosen in it has a name.
function nameChoices(frame) {
  const inner = frame.contentDocument;
  const name = () => {
    for (const choice of inner.querySelectorAll("select:not([aria-label])"))
      choice.setAttribute("aria-label", choice.id === "servers" ? "Server" : "Example");
  };
  new MutationObserver(name).observe(inner, { childList: true, subtree: true });
  name();
}

document$.subscribe(() => {
  for (const frame of document.querySelectorAll(".swagger-ui-iframe")) {
    frame.title = "Calls of the API";
    frame.addEventListener("load", () => nameChoices(frame));
    if (frame.contentDocument) nameChoices(frame);
  }
  new ResizeObserver(markAll).observe(document.body);
});
