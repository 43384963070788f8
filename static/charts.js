// Replaces a static chart with an interactive one of the same size. Until it has loaded, or if it cannot be
// loaded, the static chart stays.

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const narrow = window.matchMedia("(max-width: 600px)");
let library;

function load(address) {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.type = "module";
    script.addEventListener("load", () => resolve(window.vegaEmbed));
    script.addEventListener("error", () => reject(new Error(`${address} could not be loaded.`)));
    document.head.append(script);
  });
  return library;
}

function variant() {
  return `${dark.matches ? "dark" : "light"}${narrow.matches ? "-narrow" : ""}`;
}

// The run whose bands are shown while the others are dimmed: at the pointer, under a finger, or chosen by keys.
const POINTS = new Set(["symbol", "line", "text"]); // bands lie below everything, and would answer everywhere

function followPointer(view, figure, runs) {
  const known = new Set(runs);
  const point = (run) => {
    if (view.signal("pointed") === run) return;
    figure.dataset.pointed = run;
    view.signal("pointed", run).runAsync();
  };
  const runAt = (item) => {
    const run = item && POINTS.has(item.mark.marktype) ? item.datum?.run ?? item.datum?.value : undefined;
    return known.has(run) ? run : "";
  };
  view.addEventListener("pointermove", (event, item) => event.pointerType === "mouse" && point(runAt(item)));
  view.addEventListener("pointerout", (event) => event.pointerType === "mouse" && point(""));
  view.addEventListener("pointerdown", (event, item) => point(runAt(item)));
  return point;
}

// One choice per run for keyboards and screen readers. It is not to be seen: the picture shows what is chosen.
function choiceByKeys(figure, runs, point) {
  const choice = document.createElement("fieldset");
  choice.className = "visually-hidden chart-runs";
  const legend = document.createElement("legend");
  legend.textContent = "Show the bands of";
  choice.append(legend);
  const name = `chart-run-${[...document.querySelectorAll("figure")].indexOf(figure)}`;
  for (const run of ["", ...runs]) {
    const label = document.createElement("label");
    const button = Object.assign(document.createElement("input"), { type: "radio", name, value: run });
    button.checked = !run;
    label.append(button, ` ${run || "no run in particular"}`);
    choice.append(label);
  }
  choice.addEventListener("change", (event) => point(event.target.value));
  choice.addEventListener("focusin", (event) => point(event.target.value));
  choice.addEventListener("focusout", () => point(""));
  return choice;
}

async function draw(figure) {
  const { specifications, library: address } = figure.dataset;
  const wanted = variant();
  const [embed, answer] = await Promise.all([
    load(address),
    fetch(specifications.replace("VARIANT", wanted), { headers: { Accept: "application/json" } }),
  ]);
  if (!answer.ok || wanted !== variant()) return;
  const place = document.createElement("div");
  place.className = "chart live";
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", figure.querySelector("img").alt);
  // Vega's interpreter and the site's style sheet replace generated code and injected styles.
  const specification = await answer.json();
  const { view } = await embed(place, specification, {
    ast: true,
    mode: "vega-lite",
    renderer: "svg",
    actions: false,
    defaultStyle: false,
    logLevel: 1, // errors only, no warnings about legends
    tooltip: { disableDefaultStyle: true, id: "chart-words" },
  });
  place.querySelector("svg").setAttribute("aria-hidden", "true"); // its label is that of the figure
  for (const old of figure.querySelectorAll(".chart.live, .chart-runs")) old.remove();
  const picture = figure.querySelector("picture");
  picture.hidden = true;
  picture.after(place);
  const runs = specification.usermeta?.runs ?? [];
  if (runs.length > 1 && specification.params?.some((one) => one.name === "pointed")) {
    place.after(choiceByKeys(figure, runs, followPointer(view, figure, runs)));
  }
  figure.dataset.live = wanted;
}

function drawAll() {
  for (const figure of document.querySelectorAll("[data-specifications]")) {
    draw(figure).catch(() => {
      delete figure.dataset.live; // the picture stays
    });
  }
}

for (const query of [dark, narrow]) query.addEventListener("change", drawAll);
drawAll();
