"use strict";
// Draws the timeline and shows evidence. Foreign words are only ever set as
// text; nothing here makes markup out of a string.
(() => {
  const { report, files } = JSON.parse(document.getElementById("data").textContent);
  const timeline = document.getElementById("timeline");
  const detail = document.getElementById("detail");
  const work = timeline.parentElement;
  const total = Math.max(report.elapsed_ms, 1);
  const MARKS = {
    passed: "✓", ready: "✓", failed: "✗", stopped: "■", skipped: "–", "not-run": "–",
    planned: "·", unseen: "·", running: "▸", waiting: "…", "not-yet": "…", blind: "?", unknown: "?",
  };
  const view = { open: new Set(), focus: null, shown: null, failedOnly: false, find: "" };

  // --- small things ---

  function el(tag, properties = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name === "class") node.className = value;
      else if (name.includes("-") || name === "role" || name === "tabindex") node.setAttribute(name, value);
      else node[name] = value;
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }

  function span(ms) {
    if (ms === undefined || ms === null) return "";
    if (ms < 59950) return (Math.round(ms / 100) / 10).toFixed(1) + "s";
    const seconds = Math.round(ms / 1000);
    if (seconds < 3600) return Math.floor(seconds / 60) + "m" + (seconds % 60) + "s";
    return Math.floor(seconds / 3600) + "h" + Math.floor((seconds % 3600) / 60) + "m";
  }

  const words = (state) => state.replaceAll("-", " ");
  const mark = (state) => el("span", { class: "mark " + state, title: words(state) }, MARKS[state] || "·");
  const badge = (state) => el("span", { class: "badge " + state }, words(state));
  const percent = (ms) => (100 * Math.min(Math.max(ms, 0), total)) / total + "%";

  // --- the tree: stages, nodes, attempts, gates ---

  const items = new Map();

  function add(item) {
    items.set(item.id, item);
    return item;
  }

  function unitItem(id, level, label, stage, unit, parent) {
    const item = add({ id, level, label, kind: level === 1 ? "stage" : "node", state: unit.state, stage, unit, parent });
    item.from = unit.from_ms;
    item.to = unit.to_ms ?? (unit.from_ms === undefined ? undefined : total);
    item.children = [
      ...(unit.attempts || []).map((attempt, index) => attemptItem(item, attempt, index)),
      ...(unit.checks || []).map((check, index) => checkItem(item, check, index)),
    ];
    return item;
  }

  function attemptItem(parent, attempt, index) {
    const attempts = parent.unit.attempts;
    const next = attempts[index + 1];
    const state = next ? "failed" : parent.state;
    return add({
      id: parent.id + "a" + index, level: parent.level + 1, label: "try " + attempt.number, kind: "attempt", state,
      from: attempt.at_ms, to: next ? next.at_ms : parent.to, attempt, next, parent, stage: parent.stage, unit: parent.unit, children: [],
    });
  }

  function checkItem(parent, check, index) {
    const planned = (parent.stage.checks || []).find((one) => one.name === check.name);
    const findings = check.findings || [];
    return add({
      id: parent.id + "c" + index, level: parent.level + 1, label: check.name, kind: planned ? planned.kind : "gate",
      state: check.state, check, planned, parent, stage: parent.stage, unit: parent.unit, children: [],
      from: findings.length ? findings[0].at_ms : undefined, to: lasted(findings, parent),
    });
  }

  /** A check that was never ready was looked at until its unit was over. */
  function lasted(findings, unit) {
    const last = findings.at(-1);
    if (!last) return undefined;
    return last.verdict.is === "ready" || last.verdict.is === "failed" ? last.at_ms : Math.max(last.at_ms, unit.to ?? total);
  }

  function stageItem(stage, index) {
    const id = "s" + index;
    if (!stage.per_node) return unitItem(id, 1, stage.name, stage, stage.units[0] || { state: stage.state }, null);
    const item = add({
      id, level: 1, label: stage.name, kind: "stage", state: stage.state, stage, parent: null,
      from: stage.from_ms, to: stage.from_ms === undefined ? undefined : stage.from_ms + stage.took_ms,
    });
    const units = stage.units.map((unit, number) => unitItem(id + "u" + number, 2, unit.node, stage, unit, item));
    const bad = (unit) => isBad(unit.state);
    item.children = [...units.filter(bad), ...units.filter((unit) => !bad(unit))];
    return item;
  }

  const stages = report.stages.map(stageItem);

  // --- which rows are visible ---

  /** What could not be read is no better than what failed. */
  function isBad(state) {
    return state === "failed" || state === "unknown";
  }

  /** A try that failed before one passed is no failure of its unit. */
  const failed = (item) => (isBad(item.state) && (!item.attempt || isBad(item.parent.state))) || item.children.some(failed);
  /** A gate that failed is found by what it said, too: often it names a node. */
  function searched(item) {
    if (!item.check || !isBad(item.state)) return item.label.toLowerCase();
    const last = (item.check.findings || []).at(-1);
    return [item.label, JSON.stringify(last ?? ""), JSON.stringify(item.unit.cause ?? "")].join(" ").toLowerCase();
  }
  const found = (item) => searched(item).includes(view.find) || item.children.some(found);

  function wanted(item) {
    if (view.failedOnly && !failed(item)) return false;
    if (!view.find || item.kind === "attempt" || item.check) return true;
    return found(item) || (item.parent !== null && item.parent.label.toLowerCase().includes(view.find));
  }

  function isOpen(item) {
    if (view.open.has(item.id)) return true;
    if (view.failedOnly) return !view.open.has("-" + item.id);
    const hides = (child) => (child.kind === "node" || (child.check && isBad(child.state))) && found(child);
    return view.find !== "" && !view.open.has("-" + item.id) && item.children.some(hides);
  }

  function fold(item, open) {
    view.open.delete((open ? "-" : "") + item.id);
    view.open.add((open ? "" : "-") + item.id);
    draw();
  }

  function visible() {
    const rows = [];
    const walk = (item) => {
      if (!wanted(item)) return;
      rows.push(item);
      if (item.children.length && isOpen(item)) item.children.forEach(walk);
    };
    stages.forEach(walk);
    return rows;
  }

  // --- drawing ---

  function bar(kind, state, from, to) {
    const node = el("span", { class: "bar " + kind + " " + state });
    node.style.left = percent(from);
    node.style.width = percent(to - from);
    return node;
  }

  function dot(finding) {
    const node = el("span", { class: "dot " + finding.verdict.is });
    node.style.left = percent(finding.at_ms);
    return node;
  }

  function waits(item) {
    const findings = item.check.findings || [];
    const bars = findings.map((finding, index) => {
      const until = findings[index + 1] ? findings[index + 1].at_ms : item.to;
      return bar("thin", finding.verdict.is, finding.at_ms, until);
    });
    return [...bars, ...findings.map(dot)];
  }

  function track(item) {
    const node = el("span", { class: "track" });
    if (item.from === undefined) return node;
    if (item.check) node.append(...waits(item));
    else if (item.kind === "attempt") node.append(bar(item.next ? "try" : "", item.state, item.from, item.to));
    else if (!item.unit) node.append(bar("span", item.state, item.from, item.to), ...some(item));
    else node.append(...tries(item));
    return node;
  }

  /** Units of a stage on top of each other: where most of them ran is darkest. */
  function some(stage) {
    const ran = stage.children.filter((unit) => unit.from !== undefined);
    const bad = ran.filter((unit) => unit.state === "failed").slice(0, 50);
    const good = ran.filter((unit) => unit.state !== "failed");
    const step = Math.max(1, Math.ceil(good.length / 48));
    const shown = good.filter((_, index) => index % step === 0);
    const bars = shown.map((unit) => {
      const one = bar("one", unit.state, unit.from, unit.to);
      one.style.opacity = Math.max(0.08, Math.min(0.5, 1.6 / shown.length));
      return one;
    });
    return [...bars, ...bad.map((unit) => bar("thin", "failed", unit.from, unit.to))];
  }

  function tries(item) {
    const attempts = item.children.filter((child) => child.attempt);
    if (!attempts.length) return [bar("", item.state, item.from, item.to)];
    return attempts.map((one) => bar(one.next ? "try" : "", one.state, one.from, one.to));
  }

  /** What proves a stage or a gate, in a line. */
  function evidenceLine(item) {
    if (item.state !== "passed" && item.state !== "ready") return "";
    if (item.level === 1) return item.stage.summary || "";
    const last = item.check && (item.check.findings || []).at(-1);
    const seen = last && seenBy(last.verdict);
    return (seen && seen.summary) || "";
  }

  function row(item) {
    const children = item.children.length > 0;
    const open = children && isOpen(item);
    const share = item.stage.per_node && item.level === 1 ? item.stage.passed + "/" + item.stage.planned : null;
    const line = evidenceLine(item);
    const node = el("div", {
      class: "row level-" + item.level, role: "row", id: item.id, tabindex: item.id === view.focus ? "0" : "-1",
      "aria-level": item.level, "aria-selected": String(item.id === view.shown),
    },
      el("span", { class: "name", role: "gridcell" },
        el("span", { class: "fold", "aria-hidden": "true" }, children ? (open ? "▼" : "▶") : ""),
        mark(item.state),
        el("span", { class: "label", title: item.label }, item.label),
        item.check ? el("span", { class: "kind" }, item.kind) : null,
        share ? el("span", { class: "share" }, share) : null),
      track(item),
      line ? el("span", { class: "line", role: "gridcell", title: line }, line) : null,
      el("span", { class: "took", role: "gridcell" }, item.from === undefined ? words(item.state) : span(item.to - item.from)));
    if (children) node.setAttribute("aria-expanded", String(open));
    return node;
  }

  function steps() {
    const rough = total / 6;
    const nice = [100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 72e5, 216e5];
    const step = nice.find((one) => one >= rough) || Math.ceil(rough / 36e5) * 36e5;
    const ticks = [];
    for (let at = 0; at <= total * 0.97; at += step) ticks.push(at);
    return ticks;
  }

  function at(node, ms) {
    node.style.left = percent(ms);
    return node;
  }

  function frame() {
    const label = (ms) => (ms % 1000 ? span(ms) : ms < 6e4 ? ms / 1000 + "s" : span(ms).replace("m0s", "m"));
    const ticks = steps();
    const axis = el("div", { class: "axis", "aria-hidden": "true" },
      el("span", { class: "ticks" }, ...ticks.map((ms) => at(el("span", { class: "tick" }, label(ms)), ms))));
    const grid = el("div", { class: "grid", "aria-hidden": "true" }, ...ticks.map((ms) => at(el("i"), ms)));
    return [grid, axis];
  }

  const furniture = frame();

  function draw() {
    const rows = visible();
    if (!rows.some((item) => item.id === view.focus)) view.focus = rows.length ? rows[0].id : null;
    const empty = rows.length ? [] : [el("p", { class: "empty" }, view.failedOnly ? "Nothing failed." : "Nothing found.")];
    const inside = timeline.contains(document.activeElement);
    timeline.replaceChildren(...furniture, ...rows.map(row), ...empty);
    if (inside) focus(view.focus);
  }

  function focus(id) {
    const before = timeline.querySelector('[tabindex="0"]');
    if (before) before.setAttribute("tabindex", "-1");
    const node = id && document.getElementById(id);
    if (!node) return;
    view.focus = id;
    node.setAttribute("tabindex", "0");
    node.focus({ preventScroll: true });
    node.scrollIntoView({ block: "nearest" });
  }

  // --- the detail of a row ---

  const heading = (text) => el("h4", {}, text);

  function section(title, ...children) {
    const present = children.filter((child) => child);
    return present.length ? [heading(title), ...present] : [];
  }

  function value(raw) {
    if (typeof raw === "string") return raw;
    const short = JSON.stringify(raw);
    return short.length < 60 ? short : el("pre", {}, JSON.stringify(raw, null, 2));
  }

  function factTable(facts) {
    if (!facts || !facts.length) return null;
    return el("table", {}, el("tbody", {}, ...facts.map((fact) => el("tr", {}, el("td", {}, fact.name), el("td", {}, value(fact.value))))));
  }

  function file(attachment) {
    const text = files[attachment.digest];
    const size = attachment.size + " bytes" + (attachment.cut_from ? ", cut from " + attachment.cut_from : "");
    const body = text === undefined ? "Left out of this page for size. It lies in evidence/" + attachment.digest : text;
    return el("details", { open: text !== undefined },
      el("summary", {}, attachment.name, " ", el("span", { class: "tag" }, size)), el("pre", { class: "file" }, body));
  }

  // What speaks against being ready is evidence too.
  function seenBy(verdict) {
    const cause = verdict.cause || (verdict.because && verdict.because.in_the_end);
    return verdict.evidence || (cause && cause.evidence);
  }

  function evidence(found) {
    if (!found) return [];
    return section("evidence",
      el("p", { class: "summary" }, found.summary, " ", found.simulated ? el("span", { class: "tag" }, "simulated") : ""),
      factTable(found.facts), ...(found.files || []).map(file));
  }

  const failure = (error) => [error.message, ...(error.sources || [])].join(": ");

  function said(finding) {
    const { verdict } = finding;
    const text = { ready: () => verdict.evidence.summary, "not-yet": () => verdict.because.what, blind: () => "could not look: " + failure(verdict.error), failed: () => verdict.cause.message }[verdict.is];
    const chain = verdict.because ? verdict.because.chain : verdict.cause ? verdict.cause.because : [];
    return el("li", {}, el("time", {}, span(finding.at_ms)), mark(verdict.is), el("span", {}, text ? text() : ""),
      ...(chain || []).map((line) => el("span", { class: "chain" }, "← " + line)));
  }

  const list = (entries) => (entries.length ? el("ul", { class: "said" }, ...entries) : null);

  const entry = (ms, state, text) => el("li", {}, el("time", {}, span(ms)), mark(state), el("span", {}, text));

  function checkDetail(item) {
    const findings = item.check.findings || [];
    const seen = findings.map((finding) => seenBy(finding.verdict)).filter(Boolean).at(-1);
    const deadline = item.planned ? "may take " + span(item.planned.deadline_ms) + (item.planned.required ? ", required for the proof" : ", optional") : "";
    return [
      el("p", { class: "where" }, deadline),
      item.check.skipped ? el("p", {}, "left out: " + item.check.skipped) : null,
      item.check.reused ? el("p", {}, "taken from run " + item.check.reused) : null,
      isBad(item.state) && item.unit.cause ? el("p", {}, el("code", {}, item.unit.cause.code), " " + item.unit.cause.message) : null,
      ...evidence(seen),
      ...section("what it said", list(findings.map(said))),
      ...section("of the same unit", list([item.parent, ...item.parent.children].filter((one) => one !== item).map(jump))),
    ];
  }

  function causeDetail(cause) {
    if (!cause) return [];
    const chain = (cause.because || []).map((line, index) => el("p", {}, (index ? "← " : "") + line));
    const next = (cause.next || []).map((step) => el("p", {}, el("code", {}, step.command), " " + step.tells));
    return [...section("cause", el("p", {}, el("code", {}, cause.code), " " + cause.message)), ...section("because", ...chain),
      ...section("also", ...(cause.also || []).map((line) => el("p", {}, line))),
      ...section("so", cause.so ? el("p", {}, cause.so) : null), ...evidence(cause.evidence), ...section("next", ...next)];
  }

  function call(one) {
    const ids = Object.entries(one.ids || {}).map(([what, id]) => what + " " + id).join(", ");
    const state = { done: "passed", refused: "failed", "in-doubt": "blind", open: "running" }[one.state] || "planned";
    const answer = one.error ? failure(one.error) : ids;
    const text = one.kind + " " + one.name + ": " + words(one.state) + (answer ? ", " + answer : "") + (one.settled ? "; " + one.settled : "");
    return entry(one.at_ms, state, text);
  }

  const jump = (item) => el("li", {}, el("time", {}, item.from === undefined ? "" : span(item.to - item.from)), mark(item.state),
    el("button", { class: "link", type: "button", onclick: () => reveal(item) }, item.label));

  function unitDetail(item) {
    const { unit } = item;
    const tries = item.children.filter((child) => child.attempt && child.attempt.after)
      .map((child) => entry(child.from, "failed", "try " + (child.attempt.number - 1) + ": " + failure(child.attempt.after)));
    return [
      unit.summary && !unit.cause ? el("p", {}, unit.summary) : null,
      ...causeDetail(unit.cause),
      ...section("gates and probes", list(item.children.filter((child) => child.check).map(jump))),
      ...section("failed attempts", list(tries)),
      ...section("calls", list((unit.calls || []).map(call))),
    ];
  }

  function stageDetail(item) {
    const failing = item.children.filter((unit) => unit.state === "failed");
    const slowest = item.children.filter((unit) => unit.from !== undefined).sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, 8);
    return [
      el("p", {}, item.stage.passed + " of " + item.stage.planned + " nodes passed" + (item.stage.summary ? ": " + item.stage.summary : "")),
      ...section("failed", list(failing.slice(0, 50).map(jump))),
      ...section("slowest nodes", list(slowest.map(jump))),
    ];
  }

  function attemptDetail(item) {
    const ended = item.next && item.next.after ? failure(item.next.after) : "";
    return [...section("ended by", ended ? el("p", {}, ended) : el("p", {}, words(item.state)))];
  }

  function show(item) {
    const body = item.check ? checkDetail(item) : item.attempt ? attemptDetail(item) : item.unit ? unitDetail(item) : stageDetail(item);
    const where = [];
    for (let one = item.parent; one; one = one.parent) where.unshift(one.label);
    detail.replaceChildren(
      el("div", { class: "head" }, el("h3", {}, item.label), badge(item.state),
        el("button", { type: "button", id: "close", "aria-label": "Close", onclick: close }, "✕")),
      el("p", { class: "where" }, [...where, item.kind].join(" › ") + (item.from === undefined ? "" : ", " + span(item.from) + " – " + span(item.to))),
      ...body.filter((child) => child));
    detail.hidden = false;
    detail.scrollTop = 0;
    work.classList.add("split");
    view.shown = item.id;
    link("#" + item.id);
    draw();
  }

  /** The address of the page leads to the row that is shown. */
  function link(hash) {
    history.replaceState(null, "", location.pathname + location.search + hash);
  }

  function close() {
    link("");
    detail.hidden = true;
    detail.replaceChildren();
    work.classList.remove("split");
    view.shown = null;
    draw();
    focus(view.focus);
  }

  /** Unfolds everything above a row, then shows it. */
  function reveal(item) {
    for (let one = item.parent; one; one = one.parent) view.open.add(one.id);
    view.focus = item.id;
    show(item);
    focus(item.id);
  }

  // --- hands ---

  timeline.addEventListener("click", (event) => {
    const node = event.target.closest(".row");
    if (!node) return;
    const item = items.get(node.id);
    view.focus = item.id;
    const again = view.shown === item.id;
    if (item.children.length && (again || !isOpen(item) || event.target.classList.contains("fold"))) fold(item, !isOpen(item));
    show(item);
    focus(item.id);
  });

  function move(by) {
    const rows = visible();
    const index = rows.findIndex((item) => item.id === view.focus);
    const next = rows[Math.min(Math.max(index + by, 0), rows.length - 1)];
    if (next) focus(next.id);
  }

  const keys = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    PageDown: () => move(15),
    PageUp: () => move(-15),
    Home: () => move(-Infinity),
    End: () => move(Infinity),
    ArrowRight: (item) => (item.children.length && !isOpen(item) ? fold(item, true) : move(1)),
    ArrowLeft: (item) => (item.children.length && isOpen(item) ? fold(item, false) : item.parent && focus(item.parent.id)),
    Enter: (item) => show(item),
    " ": (item) => show(item),
  };

  timeline.addEventListener("keydown", (event) => {
    const item = items.get(view.focus);
    if (!item || !keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key](item);
  });

  const failedOnly = document.getElementById("failed-only");
  function toggleFailed() {
    view.failedOnly = !view.failedOnly;
    failedOnly.setAttribute("aria-pressed", String(view.failedOnly));
    draw();
  }
  failedOnly.addEventListener("click", toggleFailed);

  const find = document.getElementById("find");
  find.addEventListener("input", () => {
    view.find = find.value.trim().toLowerCase();
    draw();
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !detail.hidden) close();
    const typing = event.target instanceof HTMLInputElement;
    if (event.key.toLowerCase() === "f" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) toggleFailed();
  });

  // --- what is seen first: the gate that failed ---

  function culprit() {
    const first = report.first_cause;
    if (!first) return null;
    const stage = stages.find((item) => item.label === first.unit.stage);
    const unit = stage && (stage.unit ? stage : stage.children.find((item) => item.label === first.unit.node));
    return unit && (unit.children.find((item) => item.check && isBad(item.state)) || unit);
  }

  // --- commands to copy ---

  /** A page of a file or of a plain server may not use the clipboard's API. */
  async function copy(text, button) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const box = el("textarea", { value: text });
      document.body.append(box);
      box.select();
      document.execCommand("copy");
      box.remove();
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  }

  for (const code of document.querySelectorAll(".cause li > code")) {
    const button = el("button", { type: "button", class: "copy", "aria-label": "Copy the command" }, "Copy");
    button.addEventListener("click", () => copy(code.textContent, button));
    code.after(" ", button);
  }

  draw();
  const linked = items.get(location.hash.slice(1));
  const first = culprit();
  if (linked) reveal(linked);
  else if (first) {
    for (let one = first.parent; one; one = one.parent) view.open.add(one.id);
    view.focus = first.id;
    if (window.innerWidth > 760) show(first);
    else draw();
  }
})();
