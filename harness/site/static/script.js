// Search, filters and sorting for the lists of a page, boxes that choose two entries, a button that
// copies code. Without it everything can be read, in the order of the file.
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

/** What a form searches: the rows of tables, the items of lists. */
function itemsOf(list) {
  return [...(list.tBodies ? list.tBodies[0].rows : list.children)];
}

function makeSearchable(form) {
  const lists = form.dataset.lists.split(" ").map((id) => itemsOf(document.getElementById(id)));
  const texts = lists.map((items) => items.map((item) => item.textContent.toLowerCase()));
  const input = form.querySelector("input");
  const selects = [...form.querySelectorAll("select")];
  const counts = [...form.querySelectorAll(".count span")];
  const search = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = selects.map((select) => select.value).filter(Boolean);
    lists.forEach((items, number) => {
      let found = 0;
      items.forEach((item, place) => {
        const facets = (item.dataset.facets ?? "").split(" ");
        item.hidden = !(words.every((word) => texts[number][place].includes(word))
          && wanted.every((facet) => facets.includes(facet)));
        found += !item.hidden;
      });
      const all = items.length.toLocaleString("en");
      const shown = words.length || wanted.length ? `${found.toLocaleString("en")} of ${all}` : all;
      counts[number].textContent = `${shown} ${counts[number].dataset.noun}`;
    });
  };
  input.addEventListener("input", search);
  selects.forEach((select) => select.addEventListener("change", search));
  form.addEventListener("submit", (event) => event.preventDefault());
  const asked = new URLSearchParams(location.search); // as the tags of a problem do
  selects.forEach((select) => {
    const option = [...select.options].find((each) => each.value === asked.get(select.name));
    if (option) option.selected = true;
  });
  form.hidden = false;
  // A browser that has come back to the page keeps what was typed.
  if (input.value || selects.some((select) => select.value)) search();
}

/** Boxes beside the entries that have pages, and a way to see two of them side by side. */
function makePairs(table) {
  const bar = document.createElement("p");
  bar.className = "pair-bar";
  bar.setAttribute("role", "status");
  bar.hidden = true;
  const chosen = [];
  const show = () => {
    bar.hidden = chosen.length === 0;
    bar.replaceChildren();
    if (chosen.length === 1) {
      bar.append(`${chosen[0].dataset.name} is chosen. Tick another one to see both.`);
    } else if (chosen.length === 2) {
      const link = document.createElement("a");
      const [a, b] = chosen.map((box) => box.value);
      link.href = `../compare.html?a=${a}&b=${b}`;
      link.textContent = `${chosen[0].dataset.name} and ${chosen[1].dataset.name} side by side`;
      bar.append(link);
    }
  };
  table.querySelectorAll("tr[data-entry]").forEach((row) => {
    const box = document.createElement("input");
    box.type = "checkbox";
    box.value = row.dataset.entry;
    box.dataset.name = row.querySelector("th a").textContent;
    box.setAttribute("aria-label", `Compare ${box.dataset.name}`);
    box.addEventListener("change", () => {
      if (box.checked) chosen.push(box);
      else chosen.splice(chosen.indexOf(box), 1);
      if (chosen.length > 2) chosen.shift().checked = false;
      show();
    });
    box.autocomplete = "off";
    row.cells[0].prepend(box);
  });
  table.parentElement.after(bar);
}

/** A button that copies the code beside it. */
function makeCopied(frame) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const code = frame.querySelector("pre");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch { // a browser that does not allow it: what is selected can be copied by hand
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
  });
  frame.prepend(button);
}

document.querySelectorAll("table.sortable").forEach(makeSortable);
document.querySelectorAll("form.tools").forEach(makeSearchable);
document.querySelectorAll("table[data-pairs]").forEach(makePairs);
document.querySelectorAll(".code").forEach(makeCopied);
