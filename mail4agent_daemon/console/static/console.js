"use strict";
// Keys, dialogs and the title. Every decision works without any of it; no key decides anything.
(() => {
  const rows = () => [...document.querySelectorAll("[data-row]")];
  const target = (row) => row.querySelector("a, summary, button") || row;
  const typing = (node) => node.closest("input:not([type=radio]), textarea, select, dialog[open]");

  function walk(step) {
    const all = rows();
    if (!all.length) return;
    const at = all.findIndex((row) => row.contains(document.activeElement));
    const next = all[Math.min(Math.max(at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step, 0), all.length - 1)];
    if (target(next) === next) next.tabIndex = -1;
    target(next).focus();
    next.scrollIntoView({ block: "nearest" });
  }

  function go(name) {
    const node = document.querySelector(`[data-key="${name}"]`);
    if (!node) return;
    const fold = node.closest("details");
    if (fold) fold.open = true;
    node.focus();
    node.scrollIntoView({ block: "center" });
  }

  const keys = document.getElementById("keys");
  for (const button of document.querySelectorAll("[data-help]")) {
    button.hidden = false;
    button.addEventListener("click", () => keys.showModal());
  }

  let waits = false;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    const chord = waits;
    waits = false;
    if (chord && /^[1-9]$/.test(event.key)) {
      const link = document.querySelectorAll("#rail a")[Number(event.key) - 1];
      if (link) link.click();
    } else if (event.key === "g") waits = true;
    else if (event.key === "j") walk(1);
    else if (event.key === "k") walk(-1);
    else if (event.key === "?" && keys) keys.showModal();
    else if ("erx".includes(event.key)) go(event.key);
    else return;
    event.preventDefault();
  });

  const rail = document.getElementById("rail");
  if (rail) {
    const told = () => rail.querySelector("[data-needs]")?.dataset || {};
    const title = document.title.replace(/^\(\d+\) /, "");
    let known = { ...told() };
    const tell = () => {
      for (const link of rail.querySelectorAll("a")) {
        if (link.dataset.screen === rail.dataset.here) link.setAttribute("aria-current", "page");
      }
      const { needs, changes } = told();
      document.title = Number(needs) ? `(${needs}) ${title}` : title;
      const before = known;
      known = { needs, changes };
      if (needs !== before.needs) document.getElementById("news").textContent = `${needs} waiting`;
      // One may have come while another went.
      if (needs !== before.needs || changes !== before.changes) document.body.dispatchEvent(new CustomEvent("needs"));
    };
    rail.addEventListener("htmx:sse:after:message", tell);
  }

  // A row that went while it had the focus leaves the focus to the one in its place.
  let place = -1;
  document.addEventListener("htmx:before:swap", () => {
    place = rows().findIndex((row) => row.contains(document.activeElement));
  });
  document.addEventListener("htmx:after:swap", () => {
    if (place < 0 || document.activeElement !== document.body) return;
    const all = rows();
    (all.length ? target(all[Math.min(place, all.length - 1)]) : document.getElementById("main")).focus();
  });

  // A code of the command line is in the part of the address that no server and no log gets to see.
  const signin = document.getElementById("signin");
  if (signin && location.pathname === "/console/enter" && location.hash.length > 1) {
    signin.elements.secret.value = location.hash.slice(1);
    history.replaceState(null, "", "/console/enter");
    signin.submit();
  }
})();
