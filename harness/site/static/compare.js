// Two entries side by side: each is a script of data, which calls receiveEntry. All of it is text.
"use strict";

const received = new Map();

function receiveEntry(name, entry) {
  received.set(name, entry);
}

function load(name) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `entries/${name}.js`;
    script.addEventListener("load", () => resolve(received.get(name)));
    script.addEventListener("error", () => reject(new Error(name)));
    document.head.append(script);
  });
}

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function fill(table, label, pair, rows) {
  const head = element("thead", "");
  head.append(element("tr", ""));
  head.rows[0].append(element("th", label, { scope: "col" }));
  pair.forEach(([name, entry]) => {
    const cell = element("th", "", { scope: "col", class: "right" });
    cell.append(element("a", entry.name, { href: `entries/${name}.html` }));
    cell.append(element("small", entry.author));
    head.rows[0].append(cell);
  });
  const body = element("tbody", "");
  rows.forEach(([title, texts, least]) => {
    const row = element("tr", "");
    row.append(element("th", title, { scope: "row" }));
    texts.forEach((text, place) => {
      row.append(element("td", text, { class: place === least ? "right least" : "right" }));
    });
    body.append(row);
  });
  table.append(head, body);
}

/** How much faster the first one is, where both are on one board. */
function verdict([[, one], [, other]]) {
  if (one.board !== other.board || !one.speedup || !other.speedup) {
    return "They are on different boards, so that their speed-ups cannot be compared.";
  }
  const ratio = one.speedup[0] / other.speedup[0];
  const width = (ends) => Math.log(ends[2] / ends[1]) / 2;
  const factor = Math.exp(Math.hypot(width(one.speedup), width(other.speedup)));
  const times = (value) => `${value.toPrecision(4)}×`;
  const range = `95 % interval ${times(ratio / factor)} to ${times(ratio * factor)}`;
  if (ratio / factor <= 1 && ratio * factor >= 1) {
    return `They cannot be told apart: ${one.name} is ${times(ratio)} as fast, ${range}.`;
  }
  return `${one.name} is ${times(ratio)} as fast as ${other.name}, ${range}.`;
}

function show(pair) {
  document.getElementById("pair-note").textContent = [...new Set(
    pair.map(([, entry]) => entry.where))].join(" · ");
  document.getElementById("pair-verdict").textContent = verdict(pair);
  const [one, other] = pair.map(([, entry]) => entry);
  fill(document.getElementById("pair-figures"), "Figure", pair,
    one.figures.map(([label, text], place) => [label, [text, other.figures[place][1]], null])
      .filter(([, texts]) => texts.some(Boolean)));
  const specs = [...new Set([one, other].flatMap((each) => each.shapes.map(([spec]) => spec)))];
  const found = (entry, spec) => entry.shapes.find(([each]) => each === spec) ?? ["", "", null];
  fill(document.getElementById("pair-shapes"), "Shape", pair, specs.map((spec) => {
    const [a, b] = [found(one, spec), found(other, spec)];
    const least = a[2] === null || b[2] === null || a[2] === b[2] ? null : Number(b[2] < a[2]);
    return [spec.replaceAll(",", ", "), [a[1], b[1]], least];
  }));
  pair.forEach(([, entry]) => {
    const box = element("figure", "");
    const code = element("pre", entry.code ?? "Not at hand.",
      { tabindex: "0", role: "group", "aria-label": `Code of ${entry.name}` });
    box.append(code, element("figcaption", `${entry.name} by ${entry.author}`));
    document.getElementById("pair-code").append(box);
  });
  document.getElementById("pair").hidden = false;
}

async function main() {
  const asked = new URLSearchParams(location.search);
  const names = ["a", "b"].map((key) => asked.get(key) ?? "");
  const note = document.getElementById("pair-note");
  if (!names.every((name) => /^[a-z0-9-]{1,80}$/.test(name))) {
    note.textContent = "Choose two entries on a board: each of those with a page of its own has "
      + "a box to tick.";
    return;
  }
  try {
    show(await Promise.all(names.map(async (name) => [name, await load(name)])));
  } catch {
    note.textContent = "One of these entries is no longer here. Choose two on a board.";
  }
}

main();
