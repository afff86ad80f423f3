"use strict";
// Sort a table by the column whose head is pressed; missing values stay last in both directions.
// Rows that continue another one carry the class "detail" and are put back by whoever hears "sorted".
function valueOf(row, column) {
  const cell = row.cells[column];
  if (cell.dataset.missing !== undefined) return null;
  return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
}
function compare(a, b) {
  return typeof a === "number" && typeof b === "number"
    ? a - b
    : String(a).localeCompare(String(b), undefined, { numeric: true });
}
function sortBy(head) {
  const table = head.closest("table");
  const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  const column = head.cellIndex;
  const rows = Array.from(table.tBodies[0].rows).filter((row) => !row.classList.contains("detail"));
  rows.sort((first, second) => {
    const a = valueOf(first, column);
    const b = valueOf(second, column);
    if (a === null || b === null) return (a === null) - (b === null);
    return direction * compare(a, b);
  });
  table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
  table.tBodies[0].append(...rows);
  table.dispatchEvent(new Event("sorted"));
}
document.querySelectorAll("th button").forEach((button) => {
  button.addEventListener("click", () => sortBy(button.closest("th")));
});
