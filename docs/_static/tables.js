// Tables of figures: a click on a heading sorts, a box above long ones keeps the rows with a word.
"use strict";

const LONG = 12;
const SORTABLE = 5;
const MANY_COLUMNS = 10;
const LONG_NAME = 30;
const SENTENCE = 50;
const SHORT = 30;
const SCALES = { k: 1e3, M: 1e6, G: 1e9 };

// "1,972 x", "45.9%", "≥ 2.5; 5", "1.93 M": the first number; NaN where a cell does not begin with one
function firstNumber(text) {
  const found = /^[≥≤<>~*\s]*([+-]?[\d,]*\.?\d+(?:e[+-]?\d+)?)\s*([kMG])?(?![a-zA-Z\d])/.exec(text);
  return found ? Number(found[1].replaceAll(",", "")) * (SCALES[found[2]] ?? 1) : NaN;
}

function compare(first, second) {
  const numbers = [firstNumber(first), firstNumber(second)];
  if (numbers.every(Number.isFinite)) return numbers[0] - numbers[1];
  return first.localeCompare(second, "en", { numeric: true });
}

function sortRows(table, column, direction) {
  const body = table.tBodies[0];
  const text = (row) => row.cells[column].textContent.trim();
  const rows = [...body.rows];
  const filled = rows.filter((row) => text(row) !== "");
  const empty = rows.filter((row) => text(row) === ""); // last, whichever the direction
  filled.sort((first, second) => direction * compare(text(first), text(second)));
  body.append(...filled, ...empty);
}

function makeSortable(table) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    if (!button.textContent.trim()) button.setAttribute("aria-label", `Sort by column ${column + 1}`);
    heading.append(button);
    heading.classList.add("sortable");
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      headings.forEach((each) => each.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      sortRows(table, column, down ? -1 : 1);
    });
  });
}

function addSearch(table) {
  const box = document.createElement("input");
  box.type = "search";
  box.className = "table-search";
  box.placeholder = "Search rows";
  box.setAttribute("aria-label", "Search the rows of this table");
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/);
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
  (table.closest(".pst-scrollable-table-container") ?? table).before(box);
}

function isRegular(table) {
  const width = table.tHead?.rows.length === 1 ? table.tHead.rows[0].cells.length : 0;
  return width > 1 && [...table.tBodies[0].rows].every((row) => row.cells.length === width);
}

// a column of numbers, apart from empty cells, beside the names of the rows
function hasFigures(table) {
  const rows = [...table.tBodies[0].rows];
  return [...table.tHead.rows[0].cells].some((_, column) => {
    if (column === 0) return false;
    const filled = rows.map((row) => row.cells[column].textContent.trim()).filter(Boolean);
    return filled.length > rows.length / 2 && filled.every((text) => Number.isFinite(firstNumber(text)));
  });
}

// words start at the left, whatever the alignment of the column; a figure stays on one line with its unit
function alignCells(table) {
  const rows = [...table.tBodies[0].rows];
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const cells = rows.map((row) => row.cells[column]);
    const filled = cells.map((cell) => cell.textContent.trim()).filter(Boolean);
    const words = filled.some((text) => /^[A-Za-z]{3}/.test(text));
    for (const cell of words ? [heading, ...cells] : []) cell.classList.add("words");
    const figures = !words && filled.every((text) => Number.isFinite(firstNumber(text)) && text.length <= SHORT);
    for (const cell of figures ? cells : []) cell.classList.add("one-line");
  });
}

// three columns of which the last two have sentences are too narrow for a phone: see site.css
function hasSentences(table) {
  const rows = [...table.tBodies[0].rows];
  const letters = rows.map(({ cells }) => cells[1].textContent.length + cells[2].textContent.length);
  return letters.reduce((sum, count) => sum + count, 0) > SENTENCE * rows.length;
}

document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll(".bd-article table")) {
    const rows = table.tBodies[0]?.rows.length ?? 0;
    if (rows === 0 || !isRegular(table)) continue;
    alignCells(table);
    if (rows < SORTABLE || !hasFigures(table)) {
      const three = table.tHead.rows[0].cells.length === 3;
      table.classList.toggle("stacked", three && hasSentences(table));
      continue;
    }
    makeSortable(table);
    table.classList.toggle("many-columns", table.tHead.rows[0].cells.length >= MANY_COLUMNS);
    const names = [...table.tBodies[0].rows].map((row) => row.cells[0].textContent.trim());
    table.classList.toggle("long-names", names.some((name) => name.length > LONG_NAME));
    if (rows > LONG) addSearch(table);
  }
});
