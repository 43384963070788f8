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
  await embed(place, await answer.json(), {
    ast: true,
    mode: "vega-lite",
    renderer: "svg",
    actions: false,
    defaultStyle: false,
    logLevel: 1, // errors only, no warnings about legends
    tooltip: { disableDefaultStyle: true, id: "chart-words" },
  });
  place.querySelector("svg").setAttribute("aria-hidden", "true"); // its label is that of the figure
  figure.querySelector(".chart.live")?.remove();
  const picture = figure.querySelector("picture");
  picture.hidden = true;
  picture.after(place);
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
