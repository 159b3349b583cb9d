"use strict";
(() => {
  const report = JSON.parse(document.getElementById("data").textContent);
  const { passes, resources, edges, stats } = report;
  const kinds = { render: "draws", compute: "dispatches", transfer: "copies", readback: "reads back" };
  const hazards = { RAW: "read after write", WAR: "write after read", WAW: "write after write" };
  const byId = (id) => document.getElementById(id);

  // --- small tools -------------------------------------------------------------------------------------------------
  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined) continue;
      if (name === "style") element.style.cssText = value; else element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }
  function draw(parent, tag, attributes = {}, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  }
  function canvas(id, width, height, label) {
    const svg = draw(byId(id), "svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
    draw(svg, "title", {}, label);
    return svg;
  }
  const color = (name) => `var(--${name})`;
  const short = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
  function bytes(count) {
    const units = ["B", "KiB", "MiB", "GiB"];
    let unit = 0;
    while (count >= 1024 && unit < 3) { count /= 1024; unit++; }
    return `${count >= 100 || unit === 0 ? Math.round(count) : count.toFixed(1)} ${units[unit]}`;
  }
  function time(ns) {
    if (ns === null || ns === undefined) return "–";
    if (ns < 1e3) return `${Math.round(ns)} ns`;
    if (ns < 1e6) return `${(ns / 1e3).toFixed(1)} µs`;
    return `${(ns / 1e6).toFixed(ns < 1e8 ? 2 : 0)} ms`;
  }
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  const named = (index) => (resources[index] ? resources[index].label : "?");
  const nameOf = (index) => (passes[index] ? passes[index].label : "?");
  const partOf = (text) => (text === "all" ? "" : `, ${text}`);

  // --- summary -----------------------------------------------------------------------------------------------------
  function tile(value, label, note, meter) {
    const element = make("div", { class: "tile" }, make("b", {}, value), make("span", {}, label));
    if (note) element.append(make("small", {}, note));
    if (meter) {
      const total = sum(meter.map((part) => part[0])) || 1;
      element.append(make("div", { class: "meter" }, ...meter.map(([size, tone]) =>
        make("i", { style: `width:${(size / total) * 100}%;background:${tone}` }))));
    }
    byId("tiles").append(element);
  }
  const liveCount = stats.passes - stats.culled;
  tile(`${liveCount} of ${stats.passes}`, "passes live", stats.culled ? `${stats.culled} culled` : "none culled",
    Object.keys(kinds).map((kind) => [passes.filter((pass) => pass.live && pass.kind === kind).length, color(kind)]));
  tile(`${stats.memory_barriers + stats.texture_barriers}`, "barriers",
    `${stats.texture_barriers} texture, ${stats.memory_barriers} memory, in ${stats.barrier_batches} batches`);
  const saved = stats.transient_bytes - stats.physical_bytes;
  tile(bytes(stats.physical_bytes), "transient memory",
    saved > 0 ? `${bytes(saved)} saved by reuse` : `${stats.transients} transients, nothing shared`,
    [[stats.physical_bytes, color("accent")], [Math.max(saved, 0), "var(--line)"]]);
  tile(bytes(stats.peak_bytes), "most alive at once", "no placement can need less");
  const cpu = [["declare", stats.declare_ns, "render"], ["compile", stats.compile_ns, "compute"],
    ["record", stats.record_ns, "transfer"], ["submit", stats.submit_ns, "readback"]];
  tile(time(sum(cpu.map((part) => part[1]))), "CPU time",
    cpu.map(([name, ns]) => `${name} ${time(ns)}`).join(", "), cpu.map(([, ns, tone]) => [ns, color(tone)]));
  const gpu = passes.filter((pass) => pass.gpu_ns !== null);
  if (gpu.length) tile(time(sum(gpu.map((pass) => pass.gpu_ns))), "GPU time", `${gpu.length} passes timed`);
  tile(`${stats.created}`, "objects made", stats.created ? `in frame ${report.frame}` : "a warm frame makes none");
  const omitted = Object.entries(report.omitted).filter(([, count]) => count > 0);
  if (omitted.length) {
    byId("omitted").hidden = false;
    byId("omitted").textContent = "Left out to stay readable: " + omitted.map(([name, count]) => `${count} ${name}`).join(", ") + ".";
  }
  function legend(id, entries) {
    byId(id).append(...entries.map(([tone, text]) =>
      make("span", {}, make("i", { class: "swatch", style: `background:${tone}` }), text)));
  }

  // --- selection ---------------------------------------------------------------------------------------------------
  const marks = new Map();
  const remember = (pass, element, mark = "on") => {
    if (!marks.has(pass)) marks.set(pass, []);
    marks.get(pass).push([element, mark]);
  };
  let selected = null;
  function select(pass, jump) {
    if (selected !== null) for (const [element, mark] of marks.get(selected) || []) element.classList.remove(mark);
    const same = selected === pass;
    selected = same && !jump ? null : pass;
    byId("dag").querySelectorAll(".edge").forEach((edge) => {
      const mine = edge.dataset.from === String(selected) || edge.dataset.to === String(selected);
      edge.classList.toggle("strong", selected !== null && mine);
      edge.classList.toggle("faint", selected !== null && !mine);
    });
    if (selected === null) return;
    for (const [element, mark] of marks.get(selected) || []) element.classList.add(mark);
    const card = byId(`pass-${selected}`);
    if (card) {
      card.open = true;
      if (jump) card.scrollIntoView({ block: "center" });
    }
  }

  // --- timeline: passes by resources -------------------------------------------------------------------------------
  const SIDE = Math.min(190, Math.max(120, window.innerWidth * 0.32));
  const STEP = Math.max(26, Math.min(76, (Math.min(window.innerWidth, 1240) - SIDE - 150) / Math.max(passes.length, 1)));
  const EDGE = 104; // Room for the last tilted label.
  const at = (pass) => SIDE + pass * STEP;
  function heads(svg, top, height) {
    passes.forEach((pass, index) => {
      const group = draw(svg, "g", { class: `hit${pass.live ? "" : " culled"}` });
      draw(group, "title", {}, `${pass.label}\n${pass.kind}, ${pass.live ? "live" : "culled"}: ${pass.why}`);
      const column = draw(group, "rect", { class: "column", x: at(index), y: 0, width: STEP, height, rx: 4 });
      remember(index, column);
      draw(group, "rect", { x: at(index) + 2, y: top - 7, width: STEP - 4, height: 5, rx: 2.5, fill: color(pass.kind) });
      const x = at(index) + STEP / 2;
      const text = draw(group, "text", { x, y: top - 13, class: "small", transform: `rotate(-48 ${x} ${top - 13})` });
      text.textContent = short(pass.label, 22);
      group.addEventListener("click", () => select(index, true));
    });
  }
  const shown = resources.map((resource, index) => [resource, index]).filter(([resource]) => resource.lifetime).slice(0, 400);
  (function gantt() {
    const top = 126;
    const row = 24;
    const height = top + shown.length * row + 8;
    const svg = canvas("gantt", SIDE + passes.length * STEP + EDGE, height, "Passes by resources");
    heads(svg, top, height);
    const rows = new Map();
    shown.forEach(([resource, index], position) => {
      const y = top + position * row + row / 2;
      rows.set(index, y);
      const label = draw(svg, "text", { x: SIDE - 10, y: y + 4, "text-anchor": "end" }, short(resource.label, Math.floor(SIDE / 7.4)));
      draw(label, "title", {}, `${resource.label}\n${resource.origin} ${resource.kind}, ${resource.description}\n${resource.location}`);
      draw(svg, "line", { x1: SIDE, x2: at(passes.length), y1: y, y2: y, stroke: "var(--soft)" });
      const [first, last] = resource.lifetime;
      draw(svg, "rect", { x: at(first) + 4, y: y - 5, width: (last - first + 1) * STEP - 8, height: 10, rx: 5,
        fill: resource.origin === "transient" ? color("accent") : color("dim"), opacity: 0.22, "pointer-events": "none" });
    });
    passes.forEach((pass, index) => {
      // One mark for each resource of a pass: filled where it writes, hollow where it reads, both where it does both.
      const groups = new Map();
      for (const use of pass.uses) {
        if (!groups.has(use.resource)) groups.set(use.resource, []);
        groups.get(use.resource).push(use);
      }
      for (const [resource, uses] of groups) {
        const y = rows.get(resource);
        if (y === undefined) continue;
        const writes = uses.some((use) => use.writes);
        const cx = at(index) + STEP / 2;
        const group = draw(svg, "g", { class: `hit${pass.live ? "" : " culled"}` });
        draw(group, "circle", { cx, cy: y, r: 5.5, stroke: color(pass.kind), "stroke-width": 2, fill: writes ? color(pass.kind) : "var(--card)" });
        if (writes && uses.some((use) => !use.writes)) draw(group, "circle", { cx, cy: y, r: 2.4, fill: "var(--card)" });
        const lines = uses.map((use) => `${use.how}: ${named(resource)}${partOf(use.part)}${use.stored === false ? ", not stored" : ""}\n  ${use.scope}`);
        draw(group, "title", {}, `${pass.label}\n${lines.join("\n")}`);
        group.addEventListener("click", () => select(index, true));
      }
    });
  })();
  legend("legend", [...Object.keys(kinds).map((kind) => [color(kind), `${kind} (${kinds[kind]})`])]);
  byId("legend").append(make("span", {}, "● writes"), make("span", {}, "○ reads"), make("span", {}, "◉ both"), make("span", {}, "faded: culled"));

  // --- memory ------------------------------------------------------------------------------------------------------
  (function alive() {
    const height = 130;
    const most = Math.max(stats.physical_bytes, stats.peak_bytes, 1);
    const svg = canvas("alive", SIDE + passes.length * STEP + EDGE, height, "Transient bytes alive at each pass");
    const y = (count) => height - 20 - (count / most) * (height - 44);
    let held = 0;
    const steps = report.live_bytes.map((count, index) => (passes[index].live ? (held = count) : held));
    let path = `M ${SIDE} ${y(0)}`;
    steps.forEach((count, index) => { path += ` L ${at(index)} ${y(count)} L ${at(index + 1)} ${y(count)}`; });
    path += ` L ${at(passes.length)} ${y(0)} Z`;
    draw(svg, "path", { d: path, fill: color("accent"), opacity: 0.25 });
    draw(svg, "path", { d: path, fill: "none", stroke: color("accent"), "stroke-width": 1.5 });
    const marked = [[stats.physical_bytes, "held", "var(--ink)"]];
    if (stats.peak_bytes !== stats.physical_bytes) marked.push([stats.peak_bytes, "peak alive", "var(--accent)"]);
    // Labels of lines that nearly touch are moved apart.
    let above = -Infinity;
    marked.forEach(([count, label, tone]) => {
      const text = Math.max(y(count) + 4, above + 15);
      above = text;
      draw(svg, "line", { x1: SIDE, x2: at(passes.length), y1: y(count), y2: y(count), stroke: tone, "stroke-dasharray": "4 4" });
      draw(svg, "text", { x: SIDE - 10, y: text, "text-anchor": "end", class: "small" }, `${label} ${bytes(count)}`);
    });
    draw(svg, "line", { x1: SIDE, x2: at(passes.length), y1: y(0), y2: y(0), stroke: "var(--line)" });
  })();
  (function pool() {
    const slots = new Map();
    resources.forEach((resource, index) => {
      if (resource.placement === null || !resource.lifetime) return;
      const key = `${resource.kind} ${resource.placement}`;
      if (!slots.has(key)) slots.set(key, []);
      slots.get(key).push([resource, index]);
    });
    const rows = [...slots.entries()].sort((a, b) => b[1][0][0].bytes - a[1][0][0].bytes).slice(0, 200);
    if (!rows.length) return;
    const row = 30;
    const svg = canvas("pool", SIDE + passes.length * STEP + EDGE, rows.length * row + 6, "Pool entries and who lies in them when");
    rows.forEach(([key, tenants], position) => {
      const y = position * row + 4;
      const largest = tenants[0][0].bytes;
      draw(svg, "text", { x: SIDE - 10, y: y + 16, "text-anchor": "end", class: "small" }, `${key} · ${bytes(largest)}`);
      draw(svg, "rect", { x: SIDE, y, width: passes.length * STEP, height: row - 7, rx: 5, fill: "var(--soft)" });
      tenants.forEach(([resource]) => {
        const [first, last] = resource.lifetime;
        const width = (last - first + 1) * STEP - 4;
        const box = draw(svg, "rect", { x: at(first) + 2, y, width, height: row - 7, rx: 5, fill: color(resource.kind === "texture" ? "render" : "compute"), opacity: 0.3 });
        draw(box, "title", {}, `${resource.label}: ${resource.description}, ${bytes(resource.bytes)}\n${nameOf(first)} to ${nameOf(last)}`);
        draw(svg, "text", { x: at(first) + 9, y: y + 16, class: "small", "pointer-events": "none" }, short(resource.label, Math.max(1, Math.floor(width / 7))));
      });
    });
  })();

  // --- queues ------------------------------------------------------------------------------------------------------
  (function lanes() {
    const timed = gpu.length > 0;
    const span = (pass) => (timed ? pass.gpu_ns : pass.cpu_ns) || 0;
    const running = passes.map((pass, index) => [pass, index]).filter(([pass]) => pass.live);
    const total = sum(running.map(([pass]) => span(pass))) || 1;
    byId("time-hint").textContent = timed
      ? "GPU time of each pass, in the order of execution."
      : "CPU time of recording each pass. GPU times appear when the device measures them.";
    const width = Math.max(320, Math.min(window.innerWidth, 1240) - 100);
    const queues = [...new Set(running.map(([pass]) => pass.queue))];
    const svg = canvas("lanes", width, queues.length * 46 + 6, "Queues");
    queues.forEach((queue, lane) => {
      let x = 78;
      const y = lane * 46 + 4;
      draw(svg, "text", { x: 0, y: y + 22, class: "small dim" }, queue);
      running.filter(([pass]) => pass.queue === queue).forEach(([pass, index]) => {
        const size = (span(pass) / total) * (width - 84);
        const box = draw(svg, "rect", { x, y, width: Math.max(size - 1, 0.5), height: 36, rx: 3, fill: color(pass.kind), class: "hit", opacity: 0.85 });
        draw(box, "title", {}, `${pass.label}: ${time(span(pass))} (${((span(pass) / total) * 100).toFixed(1)} %)`);
        box.addEventListener("click", () => select(index, true));
        if (size > 44) draw(svg, "text", { x: x + 6, y: y + 22, class: "small", "pointer-events": "none", style: "fill:var(--bg)" }, short(pass.label, Math.floor(size / 7)));
        x += size;
      });
    });
  })();

  // --- dependencies ------------------------------------------------------------------------------------------------
  (function dag() {
    const most = 300;
    const count = Math.min(passes.length, most);
    byId("graph-hint").textContent = passes.length > most
      ? `The first ${most} of ${passes.length} passes. Tap a pass to see its dependencies.`
      : "Each pass stands right of everything that it depends on. Tap a pass to see its dependencies.";
    const depth = new Array(count).fill(0);
    const links = edges.filter((edge) => edge.to < count);
    for (const edge of links) depth[edge.to] = Math.max(depth[edge.to], depth[edge.from] + 1);
    const columns = [];
    for (let index = 0; index < count; index++) {
      (columns[depth[index]] ??= []).push(index);
    }
    const WIDE = 150, TALL = 34, GAP = 64, DOWN = 16;
    // Passes of a column go where their makers are, so that edges cross less.
    const line = new Array(count).fill(0);
    columns.forEach((column, number) => {
      if (number > 0) {
        const middle = (index) => {
          const from = links.filter((edge) => edge.to === index).map((edge) => line[edge.from]);
          return from.length ? sum(from) / from.length : index;
        };
        column.sort((a, b) => middle(a) - middle(b));
      }
      column.forEach((index, position) => { line[index] = position; });
    });
    const tallest = Math.max(1, ...columns.map((column) => column.length));
    const width = columns.length * (WIDE + GAP) - GAP + 16;
    const height = tallest * (TALL + DOWN) + 12;
    const svg = canvas("dag", Math.max(width, 100), height, "Dependencies between passes");
    const place = (index) => {
      const column = columns[depth[index]];
      const offset = ((tallest - column.length) * (TALL + DOWN)) / 2;
      return [8 + depth[index] * (WIDE + GAP), 8 + offset + line[index] * (TALL + DOWN)];
    };
    const drawn = new Map();
    for (const edge of links) {
      const key = `${edge.from} ${edge.to} ${edge.hazard}`;
      if (drawn.has(key)) { drawn.get(key).push(edge); continue; }
      drawn.set(key, [edge]);
    }
    for (const group of drawn.values()) {
      const edge = group[0];
      const [ax, ay] = place(edge.from), [bx, by] = place(edge.to);
      const x1 = ax + WIDE, y1 = ay + TALL / 2, y2 = by + TALL / 2;
      const bend = Math.max(28, (bx - x1) / 2);
      // Edges over several columns swing out, so that they do not run through the passes between.
      const swing = depth[edge.to] - depth[edge.from] > 1 ? (y1 <= height / 2 ? -1 : 1) * TALL * 0.9 : 0;
      const path = draw(svg, "path", { class: "edge", "data-from": edge.from, "data-to": edge.to, stroke: color(edge.hazard.toLowerCase()),
        d: `M ${x1} ${y1} C ${x1 + bend} ${y1 + swing} ${bx - bend} ${y2 + swing} ${bx} ${y2}` });
      draw(path, "title", {}, group.map((one) => `${one.hazard} ${named(one.resource)}${partOf(one.part)}`).join("\n"));
    }
    for (let index = 0; index < count; index++) {
      const pass = passes[index];
      const [x, y] = place(index);
      const node = draw(svg, "g", { class: `node hit${pass.live ? "" : " culled"}` });
      draw(node, "rect", { x, y, width: WIDE, height: TALL, rx: 8, fill: "var(--card)", stroke: color(pass.kind), ...(pass.live ? {} : { "stroke-dasharray": "4 3" }) });
      draw(node, "rect", { x: x + 8, y: y + 10, width: 5, height: TALL - 20, rx: 2.5, fill: color(pass.kind), stroke: "none" });
      draw(node, "text", { x: x + 21, y: y + TALL / 2 + 4 }, short(pass.label, 18));
      draw(node, "title", {}, `${pass.label}\n${pass.why}`);
      node.addEventListener("click", () => select(index, false));
      remember(index, node);
    }
    legend("edge-legend", Object.keys(hazards).map((name) => [color(name.toLowerCase()), `${name}: ${hazards[name]}`]));
  })();

  // --- passes ------------------------------------------------------------------------------------------------------
  function details(pass) {
    const body = make("div", { class: "body" });
    body.append(make("p", {}, `${pass.live ? "Live" : "Culled"}: ${pass.why}. `, make("code", {}, pass.location)));
    if (pass.barriers.length) body.append(make("h3", {}, "Barriers before it"));
    for (const barrier of pass.barriers) {
      const reasons = barrier.reasons.map((reason) => {
        const after = reason.after === null ? "work before the graph" : nameOf(reason.after);
        return `${reason.hazard} ${named(reason.resource)}${partOf(reason.part)} after ${after}`;
      });
      body.append(make("div", { class: "row" },
        make("div", {}, reasons.join("; ") || "memory"),
        barrier.layouts ? make("div", {}, `${barrier.layouts[0]} → ${barrier.layouts[1]}`) : null,
        make("div", { class: "mask" }, `${barrier.src}  →  ${barrier.dst}`)));
    }
    if (pass.uses.length) body.append(make("h3", {}, "Uses"));
    for (const use of pass.uses) {
      const stored = use.stored === null ? "" : use.stored ? " · stored" : " · not stored";
      body.append(make("div", { class: "row" },
        make("div", {}, make("strong", {}, named(use.resource)), `${partOf(use.part)} · ${use.how}${stored}`),
        make("div", { class: "mask" }, `${use.scope} · `, make("code", {}, use.location))));
    }
    return body;
  }
  byId("pass-list").append(...passes.map((pass, index) => {
    const times = [pass.gpu_ns !== null ? `GPU ${time(pass.gpu_ns)}` : null, pass.cpu_ns !== null ? `CPU ${time(pass.cpu_ns)}` : null].filter(Boolean);
    const count = pass.barriers.length;
    const card = make("details", { class: "pass", id: `pass-${index}` },
      make("summary", {},
        make("span", { class: "index" }, String(index)),
        make("span", { class: "badge", style: `background:${color(pass.kind)}` }, pass.kind),
        make("span", { class: `name${pass.live ? "" : " culled"}` }, pass.label),
        pass.live ? null : make("span", { class: "badge quiet" }, "culled"),
        count ? make("span", { class: "badge quiet" }, `${count} barrier${count > 1 ? "s" : ""}`) : null,
        make("span", { class: "right" }, times.join(" · "))));
    // Bodies are made when they are first seen: a page of two thousand passes opens at once.
    card.addEventListener("toggle", () => { if (card.open && card.children.length === 1) card.append(details(pass)); });
    return card;
  }));

  // --- resources ---------------------------------------------------------------------------------------------------
  const head = ["Resource", "Kind", "Description", "Lifetime", "Lies in"].map((text) => make("th", {}, text));
  head.splice(3, 0, make("th", { class: "number" }, "Bytes"));
  byId("resource-table").append(make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...resources.map((resource) => {
    const lifetime = resource.lifetime ? (resource.lifetime[0] === resource.lifetime[1]
      ? nameOf(resource.lifetime[0]) : `${nameOf(resource.lifetime[0])} … ${nameOf(resource.lifetime[1])}`) : "unused";
    return make("tr", resource.lifetime ? {} : { class: "culled" },
      make("td", { title: resource.location }, resource.label + (resource.exported ? " (exported)" : "")),
      make("td", {}, `${resource.origin} ${resource.kind}`), make("td", {}, resource.description),
      make("td", { class: "number" }, resource.bytes ? bytes(resource.bytes) : "–"), make("td", {}, lifetime),
      make("td", {}, resource.placement === null ? "–" : `${resource.kind} ${resource.placement}`));
  })));

  // --- light and dark ----------------------------------------------------------------------------------------------
  const root = document.documentElement;
  const asked = new URLSearchParams(location.search).get("theme");
  root.dataset.theme = asked || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  byId("theme").addEventListener("click", () => { root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark"; });
})();
