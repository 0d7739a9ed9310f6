// Search and sorting for the tables of a page. Without it everything can be read, in the order of
// the file.
"use strict";

const natural = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** What a cell is sorted by; null where it holds nothing. */
function key(row, column, numeric) {
  const cell = row.cells[column];
  const text = cell.dataset.value ?? cell.textContent.trim();
  if (text === "") return null;
  return numeric ? Number(text) : text;
}

function sort(table, column, numeric, direction) {
  const sign = direction === "ascending" ? 1 : -1;
  const body = table.tBodies[0];
  const keyed = [...body.rows].map((row) => [key(row, column, numeric), row]);
  keyed.sort(([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null); // missing ones last, always
    return sign * (numeric ? a - b : natural.compare(a, b));
  });
  body.append(...keyed.map(([, row]) => row));
}

function makeSortable(table) {
  const headers = [...table.tHead.rows[0].cells];
  headers.forEach((header, column) => {
    if (!header.dataset.sort) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    header.append(button);
    button.addEventListener("click", () => {
      const ascending = header.getAttribute("aria-sort") !== "ascending";
      headers.forEach((each) => each.removeAttribute("aria-sort"));
      const direction = ascending ? "ascending" : "descending";
      header.setAttribute("aria-sort", direction);
      sort(table, column, header.dataset.sort === "number", direction);
    });
  });
}

function makeSearchable(form) {
  const rows = [...document.getElementById(form.dataset.table).tBodies[0].rows];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const input = form.querySelector("input");
  const count = form.querySelector(".count");
  const all = rows.length.toLocaleString("en");
  const search = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    rows.forEach((row, place) => {
      row.hidden = !words.every((word) => texts[place].includes(word));
      found += !row.hidden;
    });
    const shown = words.length ? `${found.toLocaleString("en")} of ${all}` : all;
    count.textContent = `${shown} ${count.dataset.noun}`;
  };
  input.addEventListener("input", search);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  if (input.value) search(); // a browser that has come back to the page keeps what was typed
}

document.querySelectorAll("table.sortable").forEach(makeSortable);
document.querySelectorAll("form.tools").forEach(makeSearchable);
