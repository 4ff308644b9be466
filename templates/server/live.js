// Keeps an open page up to date, and sends its forms without losing your place.
"use strict";
(() => {
  const eventsUrl = document.body.dataset.events;
  const page = document.body.dataset.page;
  const reconnectMilliseconds = 1000;
  let version = document.body.dataset.version ? `"${document.body.dataset.version}"` : null; // ETag of the page as shown
  let startId = null; // ID of the server's start as shown
  let isStale = false;
  let isHeld = false; // an error page is shown, with what you have entered
  let updating = null;

  const status = document.createElement("p");
  status.className = "live-status";
  status.setAttribute("role", "status");
  document.querySelector("footer").append(status);
  const setStatus = (text) => {
    if (status.textContent !== text) status.textContent = text;
  };

  // A form in which you have typed something is not replaced.
  const hasInput = () =>
    [...document.querySelectorAll("main form[method=post]")].some((form) =>
      [...form.elements].some((field) => field.type !== "hidden" && (field.value ?? "") !== (field.defaultValue ?? field.value ?? "")),
    );

  const showStaleNotice = () => {
    const notices = document.getElementById("page-notices");
    if (!notices || notices.querySelector("[data-stale]")) return;
    const notice = document.createElement("p");
    notice.className = "notice";
    notice.dataset.stale = "";
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Update the page";
    button.addEventListener("click", () => update(true));
    notice.append("This page has changed. What you have typed is kept until you update it. ", button);
    notices.append(notice);
  };

  const keyOf = (element) => element?.dataset?.key || element?.id || element?.getAttribute?.("aria-label") || "";

  const replaceMain = (text, keepNotices) => {
    const next = new DOMParser().parseFromString(text, "text/html");
    const main = document.querySelector("main");
    const nextMain = next.querySelector("main");
    if (!main || !nextMain) return;
    const focused = main.contains(document.activeElement) ? document.activeElement : null;
    const focusKey = keyOf(focused);
    const selection = focused && "selectionStart" in focused ? [focused.selectionStart, focused.selectionEnd] : null;
    const openDetails = new Set([...main.querySelectorAll("details[open]")].map((element) => element.textContent.slice(0, 80)));
    for (const filter of nextMain.querySelectorAll("form[data-filter]")) {
      const current = main.querySelector(`form[data-filter="${CSS.escape(filter.dataset.filter)}"]`);
      if (current) filter.replaceWith(current);
    }
    const notices = [...main.querySelectorAll("#page-notices .notice:not([data-stale])")];
    main.replaceChildren(...nextMain.childNodes);
    if (keepNotices) main.querySelector("#page-notices")?.append(...notices);
    for (const element of main.querySelectorAll("details")) {
      if (openDetails.has(element.textContent.slice(0, 80))) element.open = true;
    }
    document.title = next.title;
    document.dispatchEvent(new Event("page-update"));
    if (focused && !focused.isConnected && focusKey) {
      const candidates = main.querySelectorAll("a, button, input, textarea, summary, [tabindex]");
      focused.blur();
      [...candidates].find((element) => keyOf(element) === focusKey)?.focus({ preventScroll: true });
    } else if (focused?.isConnected) {
      focused.focus({ preventScroll: true });
      if (selection && selection[0] !== null) focused.setSelectionRange(...selection);
    }
  };

  const fetchPage = async (force) => {
    const headers = version ? { "If-None-Match": version } : {};
    const response = await fetch(location.pathname, { headers, cache: "no-store" });
    if (response.status === 304) return;
    const text = await response.text();
    if (isHeld) return;
    if (!force && hasInput()) {
      showStaleNotice(); // you have begun to type meanwhile
      return;
    }
    version = response.headers.get("ETag");
    replaceMain(text, true);
  };

  const update = (force) => {
    if (isHeld) return;
    if (!force && hasInput()) {
      showStaleNotice();
      return;
    }
    isStale = true;
    updating ??= (async () => {
      while (isStale) {
        isStale = false;
        try {
          await fetchPage(force);
          setStatus("");
        } catch {
          setStatus("The server does not answer.");
        }
      }
      updating = null;
    })();
  };

  const concerns = (pages) => pages === null || !page.startsWith("plans/") || pages.includes(page);

  const handle = (message) => {
    if (message.kind === "lost") {
      setStatus("Not connected: the server has stopped, or the network is down. This page may be out of date.");
      return;
    }
    setStatus("");
    if (message.kind === "start" || concerns(message.pages)) update(startId !== null && startId !== message.start);
    startId = message.start;
  };

  const openEvents = (deliver) => {
    const source = new EventSource(eventsUrl);
    for (const kind of ["start", "change"]) {
      source.addEventListener(kind, (event) => deliver({ kind, pages: null, ...JSON.parse(event.data) }));
    }
    source.addEventListener("error", () => {
      deliver({ kind: "lost" });
      if (source.readyState === EventSource.CLOSED) setTimeout(() => openEvents(deliver), reconnectMilliseconds);
    });
  };

  // A browser opens at most six connections to a server, so only one tab listens and informs the others.
  if (navigator.locks && window.BroadcastChannel) {
    const channel = new BroadcastChannel("execplan-changes");
    channel.addEventListener("message", (event) => handle(event.data));
    navigator.locks.request("execplan-events", () => {
      openEvents((message) => {
        channel.postMessage(message);
        handle(message);
      });
      return new Promise(() => {}); // hold the lock as long as the tab is open
    });
    update(false); // another tab may have listened already
  } else {
    openEvents(handle);
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post" || event.defaultPrevented) return;
    event.preventDefault();
    const fields = new URLSearchParams(new FormData(form, event.submitter));
    const buttons = [...form.querySelectorAll("button")];
    for (const button of buttons) button.disabled = true;
    // Not `form.action`: the form has a field of that name.
    fetch(form.getAttribute("action") ?? location.pathname, { method: "POST", body: fields })
      .then(async (response) => {
        const text = await response.text();
        version = null;
        isHeld = !response.ok;
        replaceMain(text, false);
        if (isHeld) document.querySelector("main").focus();
      })
      .catch(() => {
        for (const button of buttons) button.disabled = false;
        setStatus("The server does not answer; nothing was sent.");
      });
  });
})();
