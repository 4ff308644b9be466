// Filters the items of a page as you type, keeps the filter in the address, and shows how long ago dates are.
"use strict";
(() => {
  const dayMilliseconds = 86400000;

  const showAges = () => {
    for (const element of document.querySelectorAll("time[data-age]")) {
      const date = Date.parse(element.dateTime);
      const days = Math.floor((Date.now() - date) / dayMilliseconds);
      if (!Number.isFinite(days) || days < 0) continue;
      element.title = days === 0 ? "today" : days === 1 ? "1 day ago" : `${days} days ago`;
    }
  };

  const setUpFilter = (form) => {
    const input = form.querySelector("input");
    const status = form.querySelector("[role=status]");
    const noun = form.dataset.noun;
    let items = [];
    let groups = [];
    // A live page replaces its content when a plan changes.
    const findItems = () => {
      const target = document.getElementById(form.dataset.filter);
      items = [...(target?.querySelectorAll("[data-filter-item]") ?? [])].map((element) => ({
        element,
        text: element.textContent.toLowerCase(),
      }));
      groups = [...(target?.querySelectorAll("[data-filter-group]") ?? [])];
    };
    findItems();
    const apply = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      for (const { element, text } of items) {
        const matches = words.every((word) => text.includes(word));
        element.hidden = !matches;
        count += matches ? 1 : 0;
      }
      for (const group of groups) {
        const shown = group.querySelectorAll("[data-filter-item]:not([hidden])").length;
        group.hidden = shown === 0;
        group.querySelector(".count").textContent = String(shown);
      }
      status.textContent = words.length ? `${count} of ${items.length} ${noun}${items.length === 1 ? "" : "s"} match${count === 1 ? "es" : ""}` : "";
      const query = input.value ? `?filter=${encodeURIComponent(input.value)}` : window.location.pathname;
      try {
        history.replaceState(null, "", query + window.location.hash);
      } catch {
        // a browser may not allow it for files
      }
    };
    let timer = 0;
    input.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(apply, 80);
    });
    // A link can be followed right after typing: the address has the filter when the reader comes back.
    input.addEventListener("change", apply);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      apply();
    });
    document.addEventListener("keydown", (event) => {
      const isTyping = ["INPUT", "TEXTAREA"].includes(document.activeElement?.tagName);
      if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        input.focus();
      }
    });
    document.addEventListener("page-update", () => {
      findItems();
      if (input.value) apply();
    });
    form.hidden = false;
    const initial = new URLSearchParams(window.location.search).get("filter");
    if (initial) {
      input.value = initial;
      apply();
    }
  };

  showAges();
  document.addEventListener("page-update", showAges);
  for (const form of document.querySelectorAll("form[data-filter]")) setUpFilter(form);
})();
