// Unfold rows, search them, draw the atoms. What comes from the data enters the page as text only.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const svgSpace = document.querySelector(".brand svg").namespaceURI;
  const firstColumns = 10;
  const firstRows = 20;
  const table = document.getElementById("rows");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const details = new Map();

  function make(tag, className, text) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  }
  function draw(tag, attributes, text) {
    const element = document.createElementNS(svgSpace, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  }
  const nameOf = (column) => data.names[column];

  // ---- a hint that follows the pointer ----
  const tip = document.getElementById("tip");
  function showTip(event) {
    const words = event.target.closest("[data-tip]")?.dataset.tip;
    tip.hidden = !words;
    if (!words) return;
    tip.textContent = words;
    const left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${event.clientY > 60 ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18}px`;
  }
  document.querySelectorAll("[data-tip] > title").forEach((title) => title.remove());
  document.addEventListener("pointermove", showTip);
  document.addEventListener("pointerdown", showTip);
  document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });

  // ---- observed against expected ----
  // In line up to eight standard deviations; drawn in like a logarithm when a row goes far beyond.
  function axisOf(columns) {
    const far = columns.flatMap((column) => [column[3], column[4]]).filter((value) => value !== null).map(Math.abs);
    const limit = Math.max(3, ...far) * 1.06;
    const drawnIn = limit > 8.5;
    const bend = drawnIn ? Math.asinh : (value) => value;
    return { drawnIn, limit, at: (value) => 50 + (50 * bend(value)) / bend(limit) };
  }
  function place(parent, className, from, to) {
    const mark = make("i", className);
    mark.style.left = `${Math.min(from, to ?? from)}%`;
    if (to !== undefined) mark.style.width = `${Math.abs(to - from)}%`;
    parent.append(mark);
  }
  function trackOf(axis, observed, expected) {
    const track = make("span", "track");
    track.append(make("i", "line"));
    place(track, "usual", axis.at(-2), axis.at(2));
    place(track, "zero", axis.at(0));
    if (expected !== null && observed !== null) place(track, "link", axis.at(expected), axis.at(observed));
    if (expected !== null) place(track, "dot is-expected", axis.at(expected));
    if (observed !== null) place(track, "dot is-observed", axis.at(observed));
    return track;
  }
  function headOf(axis) {
    const head = make("div", "column head");
    const track = make("span", "track");
    const ticks = axis.drawnIn ? [-2, 0, 2, Math.floor(axis.limit / 1.06)] : [-2, 0, 2];
    for (const tick of ticks) {
      const word = make("b", "", `${tick > 0 ? "+" : tick < 0 ? "\u2212" : ""}${Math.abs(tick)}${tick === 0 ? "" : "\u2009sd"}`);
      word.style.left = `${axis.at(tick)}%`;
      track.append(word);
    }
    head.append(
      make("span", "name", "Column"), make("span", "observed", "Observed"), make("span", "expected", "Expected"),
      track, make("span", "share", "Share"),
    );
    return head;
  }
  function columnOf(axis, [column, observed, expected, observedAt, expectedAt, share, percent]) {
    const line = make("div", "column");
    const name = make("span", "name", nameOf(column));
    name.title = nameOf(column);
    const part = make("span", "share");
    const fill = make("span", "fill");
    const length = make("i");
    length.style.width = `${100 * (share ?? 0)}%`;
    fill.append(length);
    part.append(fill, make("span", "", percent));
    line.append(name, make("span", "observed", observed), make("span", "expected", expected),
      trackOf(axis, observedAt, expectedAt), part);
    return line;
  }
  function columnsOf(row) {
    const box = make("div", "columns");
    const axis = axisOf(row.columns);
    const lines = row.columns.map((column) => columnOf(axis, column));
    box.append(headOf(axis), ...lines);
    if (lines.length > firstColumns + 2) {
      const rest = lines.slice(firstColumns);
      rest.forEach((line) => { line.hidden = true; line.style.display = "none"; });
      const more = make("button", "quiet-button", `Show ${rest.length} more columns`);
      more.type = "button";
      more.addEventListener("click", () => {
        rest.forEach((line) => { line.hidden = false; line.style.display = ""; });
        more.remove();
      });
      box.append(more);
    }
    if (row.rest[0]) box.append(make("p", "rest", `${row.rest[0]} other columns have ${row.rest[1]} of what is unusual together.`));
    return box;
  }
  function legend() {
    const line = make("div", "legend");
    line.append(make("span", "key observed", "observed"), make("span", "key expected", data.implied ? "expected, as the other columns imply" : "expected, as the atoms represent the row"),
      make("span", "key usual", "within two standard deviations (sd) of the column\u2019s mean"));
    return line;
  }

  // ---- atoms used by a row ----
  function chipOf([atom, coefficient, distance, boundary]) {
    const shown = data.atoms !== null && data.atoms.atoms.includes(atom);
    const chip = make(shown ? "button" : "span", "chip", `atom ${atom} \u00d7 ${coefficient}`);
    const far = boundary ? "on its boundary" : distance === "0" ? "" : `${distance} radii from its centre`;
    if (far) chip.append(make("small", "", far));
    if (shown) {
      chip.type = "button";
      chip.addEventListener("click", () => pickAtom(atom));
    }
    return chip;
  }
  function usedAtoms(row) {
    const list = make("div", "used");
    list.append(make("h3", "", "Atoms used"), ...row.atoms.map(chipOf));
    if (!row.atoms.length) list.append(make("span", "empty", "none: the expected row is the mean"));
    if (row.more_atoms) list.append(make("span", "empty", `and ${row.more_atoms} more`));
    return list;
  }

  // ---- rows that unfold ----
  function detailOf(row) {
    const made = make("tr", "detail");
    const cell = make("td");
    cell.colSpan = row.cells.length;
    const box = make("div", "unfold");
    const item = data.rows[Number(row.dataset.item)];
    box.append(legend(), columnsOf(item), usedAtoms(item));
    cell.append(box);
    made.append(cell);
    made.id = `detail-${row.dataset.item}`;
    made.setAttribute("role", "row");
    cell.setAttribute("role", "cell");
    return made;
  }
  function setOpen(row, open) {
    row.classList.toggle("open", open);
    row.querySelector("button.opener").setAttribute("aria-expanded", String(open));
    if (open && !details.has(row)) details.set(row, detailOf(row));
    if (open) row.after(details.get(row));
    else details.get(row)?.remove();
  }
  const isOpen = (row) => row.classList.contains("open");
  const itemRows = () => Array.from(body.rows).filter((row) => row.dataset.item !== undefined);
  const visibleRows = () => itemRows().filter((row) => !row.hidden);
  function step(row, distance) {
    const shown = visibleRows();
    shown[shown.indexOf(row) + distance]?.querySelector("button.opener").focus();
  }
  rows.forEach((row) => {
    const cell = row.cells[0];
    const opener = make("button", "opener", cell.textContent);
    opener.type = "button";
    opener.setAttribute("aria-expanded", "false");
    opener.setAttribute("aria-label", `Rank ${cell.textContent}: details`);
    opener.setAttribute("aria-controls", `detail-${row.dataset.item}`);
    cell.replaceChildren(opener);
    row.addEventListener("click", () => {
      if (!String(getSelection())) setOpen(row, !isOpen(row));
    });
    opener.addEventListener("keydown", (event) => {
      const distance = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (distance) { event.preventDefault(); step(row, distance); }
    });
  });
  table.addEventListener("sorted", () => {
    rows.filter(isOpen).forEach((row) => row.after(details.get(row)));
    filter();
  });

  // ---- search ----
  const search = document.getElementById("search");
  const flaggedOnly = document.getElementById("flagged-only");
  const kind = document.getElementById("kind");
  const kindOf = (row) => row.querySelector("td.kind")?.textContent ?? "";
  const kinds = new Set(rows.map(kindOf).filter(Boolean));
  kind.append(...Array.from(kinds, (name) => make("option", "", name)));
  kind.hidden = kinds.size < 2;
  const foot = make("p", "table-foot");
  const all = make("button", "quiet-button", `Show all ${rows.length} rows`);
  all.type = "button";
  let limit = firstRows;
  table.after(foot);
  const texts = new Map(rows.map((row) => [row, Array.from(row.cells, (cell) => cell.textContent).join(" ").toLowerCase()]));
  function hide(row, hidden) {
    row.hidden = hidden;
    if (details.has(row)) details.get(row).hidden = hidden;
  }
  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (row) => words.every((word) => texts.get(row).includes(word)) && (!flaggedOnly.checked || row.querySelector(".badge") !== null)
      && (!kind.value || kindOf(row) === kind.value);
    const found = itemRows().filter(matches);
    const shown = new Set(found.slice(0, limit));
    rows.forEach((row) => hide(row, !shown.has(row)));
    document.getElementById("found").textContent = `${found.length} of ${rows.length} rows`;
    foot.replaceChildren(...(found.length > limit ? [all] : found.length ? [] : ["No row matches."]));
  }
  all.addEventListener("click", () => {
    limit = rows.length;
    filter();
    visibleRows()[firstRows]?.querySelector("button.opener").focus({ preventScroll: true });
  });
  search.addEventListener("input", filter);
  flaggedOnly.addEventListener("change", filter);
  kind.addEventListener("change", filter);
  document.getElementById("filter").addEventListener("submit", (event) => event.preventDefault());

  // ---- the learned atoms ----
  const line = 18;
  function drawAtoms({ atoms, columns, weights, radii, usage, largest }) {
    const box = document.getElementById("atoms");
    box.className = "card";
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", "Learned atoms");
    const side = [["usage", "used by", usage], ["radius", "radius", radii]].filter(([, , values]) => values);
    const left = 44 + side.length * 104;
    const cell = Math.max(16, Math.min(64, Math.floor(760 / columns.length)));
    const names = columns.map((column) => (nameOf(column).length > 18 ? `${nameOf(column).slice(0, 17)}\u2026` : nameOf(column)));
    const angle = cell < 24 ? -90 : -45;
    const slant = Math.max(24, 16 + (angle === -90 ? 7 : 5) * Math.max(...names.map((name) => name.length)));
    const width = left + cell * columns.length + (angle === -90 ? 4 : slant);
    const svg = draw("svg", { width, height: slant + line * atoms.length + 2, viewBox: `0 0 ${width} ${slant + line * atoms.length + 2}`, role: "img", "aria-label": `Weights of ${columns.length} columns in ${atoms.length} atoms` });
    svg.append(draw("text", { class: "tick", x: 34, y: slant - 8, "text-anchor": "end" }, "atom"));
    side.forEach(([, word], i) => svg.append(draw("text", { class: "tick", x: 46 + 104 * i, y: slant - 8 }, word)));
    names.forEach((name, j) => {
      const x = left + cell * j + cell / 2;
      const text = draw("text", { class: "tick", transform: `translate(${x + (angle === -90 ? 4 : 2)} ${slant - 8}) rotate(${angle})`, "data-tip": nameOf(columns[j]) }, name);
      svg.append(text);
    });
    atoms.forEach((atom, i) => {
      const y = slant + line * i;
      svg.append(draw("text", { class: "label", x: 34, y: y + 13, "text-anchor": "end" }, atom));
      side.forEach(([kind, , values], k) => {
        const [percent, words] = values[i];
        svg.append(draw("rect", { class: kind, x: 46 + 104 * k, y: y + 6, width: (44 * percent) / 100, height: 6, rx: 1 }));
        svg.append(draw("text", { class: "tick", x: 46 + 104 * k + 50, y: y + 13 }, words));
      });
      columns.forEach((column, j) => {
        const weight = weights[i][j];
        const sign = weight > 0 ? " positive" : weight < 0 ? " negative" : "";
        const rect = draw("rect", { class: `cell${sign}`, x: left + cell * j, y, width: cell, height: line, "data-tip": `atom ${atom}, ${nameOf(column)}: ${(Number(largest) * weight / 100).toFixed(2)}` });
        if (weight) rect.style.fillOpacity = Math.max(0.04, Math.abs(weight) / 100);
        svg.append(rect);
      });
    });
    box.append(svg);
    const key = make("div", "legend");
    const scale = make("span", "scale");
    scale.append(make("span", "", `weight \u2212${largest}`), make("i"), make("span", "", `+${largest}`));
    key.append(scale);
    if (usage) key.append(make("span", "key", "share of rows that use the atom"));
    if (radii) key.append(make("span", "key radius", "radius of the atom"));
    box.append(key);
    drawAtoms.frame = (atom) => ({ x: left - 1, y: slant + line * atoms.indexOf(atom), width: cell * columns.length + 2, height: line });
  }
  function pickAtom(atom) {
    const svg = document.querySelector("#atoms svg");
    svg.querySelector(".picked")?.remove();
    const picked = draw("rect", { class: "picked", rx: 2, ...drawAtoms.frame(atom) });
    svg.append(picked);
    document.getElementById("atoms").focus({ preventScroll: true });
    picked.scrollIntoView({ block: "center", inline: "nearest" });
  }
  if (data.atoms !== null && data.atoms.atoms.length) drawAtoms(data.atoms);

  // ---- on paper the first rows are unfolded ----
  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = visibleRows().slice(0, 5).filter((row) => !isOpen(row));
    unfolded.forEach((row) => setOpen(row, true));
  });
  addEventListener("afterprint", () => unfolded.forEach((row) => setOpen(row, false)));

  document.documentElement.classList.add("scripted");
  if (rows.length) {
    document.getElementById("filter").hidden = false;
    filter();
    // shows what a row holds; on a phone it would hide the others
    if (!matchMedia("(max-width: 46rem)").matches) setOpen(rows[0], true);
  }
})();
