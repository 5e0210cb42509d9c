// What is not asked for is hidden, and steps are shown one at a time. The form works without this.
"use strict";
(() => {
  const form = document.querySelector("form");
  const summary = document.getElementById("summary");
  if (summary) summary.focus();
  if (!form) return;

  const values = (name) =>
    [...form.elements].filter((e) => e.name === name && !e.disabled)
      .filter((e) => (e.type !== "checkbox" && e.type !== "radio") || e.checked)
      .map((e) => e.value.trim()).filter((value) => value !== "");

  const order = (a, b) => {
    const numbers = /^[+-]?\d+$/.test(a) && /^[+-]?\d+$/.test(b);
    return numbers ? Number(a) - Number(b) : a < b ? -1 : a > b ? 1 : 0;
  };
  const same = (a, b) => order(a, b) === 0;
  const holds = ({ field, op, value, values: several }) => {
    const given = values(field);
    if (op === "present") return given.length > 0;
    if (op === "absent") return given.length === 0;
    if (!given.length) return false;
    const is = (wanted) => given.some((each) => same(each, wanted));
    switch (op) {
      case "is_true": return given[0] === "true";
      case "is_false": return given[0] === "false";
      case "eq": return is(value);
      case "ne": return !is(value);
      case "in": return several.some(is);
      case "not_in": return !several.some(is);
      case "gt": return order(given[0], value) > 0;
      case "gte": return order(given[0], value) >= 0;
      case "lt": return order(given[0], value) < 0;
      default: return order(given[0], value) <= 0;
    }
  };

  const conditional = [...form.querySelectorAll("[data-show]")];
  const show = () => {
    // One field may show another that shows a third.
    for (let round = 0; round <= conditional.length; round += 1) {
      let changed = false;
      for (const part of conditional) {
        const hidden = !JSON.parse(part.dataset.show).every(holds);
        if (part.hidden !== hidden) {
          part.hidden = hidden;
          for (const each of part.querySelectorAll("input, select, textarea")) each.disabled = hidden;
          changed = true;
        }
      }
      if (!changed) break;
    }
  };
  for (const each of form.querySelectorAll(".when")) each.hidden = true;
  form.addEventListener("input", show);
  form.addEventListener("change", show);
  show();

  const steps = [...form.querySelectorAll(".step")];
  if (!("steps" in form.dataset) || steps.length < 2 || summary) return;
  const rest = [...form.children].filter((each) => !each.classList.contains("step"));
  let at = 0;
  const asked = (step) => [...step.querySelectorAll(".field")].some((each) => !each.hidden);
  const button = (text, by) => {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "quiet";
    made.textContent = text;
    made.addEventListener("click", () => go(by));
    return made;
  };
  const moves = document.createElement("p");
  const back = button("Back", -1);
  const on = button("Next", 1);
  moves.append(back, on);
  steps[steps.length - 1].after(moves);
  const draw = (focus) => {
    steps.forEach((step, index) => { step.hidden = index !== at; });
    const last = at === steps.length - 1;
    back.hidden = at === 0;
    on.hidden = last;
    for (const each of rest) each.hidden = !last;
    if (focus) {
      const heading = steps[at].querySelector("h2");
      heading.tabIndex = -1;
      heading.focus();
    }
  };
  const go = (by) => {
    let next = at + by;
    while (next > 0 && next < steps.length - 1 && !asked(steps[next])) next += by;
    at = Math.max(0, Math.min(steps.length - 1, next));
    draw(true);
  };
  draw(false);
})();
