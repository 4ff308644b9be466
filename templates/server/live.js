// Keeps an open page up to date, and sends its forms without losing your place.
"use strict";
(() => {
  const eventsUrl = document.body.dataset.events;
  const page = document.body.dataset.page;
  const reconnectMilliseconds = 1000;
  let version = document.body.dataset.version ? `"${document.body.dataset.version}"` : null; // ETag of the page as shown
  let startId = null; // ID of the server's start as shown
  let isStale = false;
  let isHeld = false; // an error page is shown, until you open the plan again
  let isForced = false;
  let updating = null;
  let shownContent = null; // `main` as the server sent it, if it replaced another one
  const typedValues = new Map(); // what you have typed, by form and field

  const status = document.createElement("p");
  status.className = "live-status";
  status.setAttribute("role", "status");
  document.querySelector("footer").append(status);
  const setStatus = (text) => {
    if (status.textContent !== text) status.textContent = text;
  };

  const formKey = (form) => `${form.elements.action?.value} ${form.elements.task?.value ?? ""}`;
  const fieldKey = (field) => `${formKey(field.form)} ${field.name}`;
  const editableFields = (container) =>
    [...container.querySelectorAll("form[method=post]")].flatMap((form) =>
      [...form.elements].filter((field) => field.type !== "hidden" && field.defaultValue !== undefined),
    );

  // A form in which you have typed something is not replaced.
  const hasInput = () => editableFields(document.querySelector("main")).some((field) => field.value !== field.defaultValue);

  const saveInput = (main) => {
    for (const field of editableFields(main)) {
      if (field.value === field.defaultValue) typedValues.delete(fieldKey(field));
      else typedValues.set(fieldKey(field), field.value);
    }
  };

  const restoreInput = (main) => {
    for (const field of editableFields(main)) field.value = typedValues.get(fieldKey(field)) ?? field.value;
  };

  const forgetInput = (key) => {
    for (const name of [...typedValues.keys()]) if (name.startsWith(`${key} `)) typedValues.delete(name);
  };

  const contentOf = (text) => {
    const main = new DOMParser().parseFromString(text, "text/html").querySelector("main");
    main?.querySelector("#page-notices")?.replaceChildren();
    return main?.innerHTML ?? null;
  };

  const removeStaleNotice = () => document.querySelector("#page-notices [data-stale]")?.remove();

  const showStaleNotice = (isGone) => {
    const notices = document.getElementById("page-notices");
    const kind = isGone ? "gone" : "changed";
    if (!notices || notices.querySelector(`[data-stale=${kind}]`)) return;
    removeStaleNotice();
    const notice = document.createElement("p");
    notice.className = "notice";
    notice.dataset.stale = kind;
    if (isGone) {
      notice.append("This page is gone: the plan has been renamed, archived or removed. Copy what you have typed before you leave.");
      notices.append(notice);
      return;
    }
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Update the page";
    button.addEventListener("click", () => update(true));
    notice.append("This page has changed. What you have typed stays when you update it. ", button);
    notices.append(notice);
  };

  const keyOf = (element) => element?.id || element?.getAttribute?.("aria-label") || "";

  // Show another page in place of this one, and return whether it is one; `sentForm` is the key of a form that was accepted.
  const replaceMain = (text, { keepNotices = false, sentForm = null } = {}) => {
    const next = new DOMParser().parseFromString(text, "text/html");
    const main = document.querySelector("main");
    const nextMain = next.querySelector("main");
    if (!main || !nextMain) return false;
    saveInput(main);
    if (sentForm !== null) forgetInput(sentForm);
    shownContent = contentOf(text);
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
    restoreInput(main);
    document.title = next.title;
    document.dispatchEvent(new Event("page-update"));
    if (focused && !focused.isConnected && focusKey) {
      const candidates = main.querySelectorAll("a, button, input, textarea, summary, [tabindex]");
      focused.blur();
      const candidate = [...candidates].find((element) => keyOf(element) === focusKey);
      candidate?.focus({ preventScroll: true });
      if (candidate && selection && selection[0] !== null) candidate.setSelectionRange(...selection);
    } else if (focused?.isConnected) {
      focused.focus({ preventScroll: true });
      if (selection && selection[0] !== null) focused.setSelectionRange(...selection);
    }
    return true;
  };

  const fetchPage = async (force) => {
    const headers = version ? { "If-None-Match": version } : {};
    const response = await fetch(location.pathname, { headers, cache: "no-store" });
    if (response.status === 304) {
      removeStaleNotice();
      return;
    }
    const text = await response.text();
    if (isHeld) return;
    if (response.ok && shownContent !== null && contentOf(text) === shownContent) {
      version = response.headers.get("ETag");
      removeStaleNotice();
      return;
    }
    const isGone = response.status === 404;
    if ((isGone || !force) && hasInput()) {
      showStaleNotice(isGone);
      return;
    }
    version = response.headers.get("ETag");
    replaceMain(text, { keepNotices: true });
  };

  const update = (force) => {
    if (isHeld) return;
    isStale = true;
    isForced ||= force;
    updating ??= (async () => {
      while (isStale) {
        const forceNow = isForced;
        isStale = isForced = false;
        try {
          await fetchPage(forceNow);
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
    const sentForm = formKey(form);
    const buttons = [...form.querySelectorAll("button")];
    const enableButtons = () => {
      for (const button of buttons) button.disabled = false;
    };
    for (const button of buttons) button.disabled = true;
    // Not `form.action`: the form has a field of that name.
    fetch(form.getAttribute("action") ?? location.pathname, { method: "POST", body: fields })
      .then(async (response) => {
        const text = await response.text();
        const wasHeld = isHeld;
        isHeld = !response.ok;
        if (replaceMain(text, { sentForm: response.ok ? sentForm : null })) {
          version = null;
          if (isHeld) document.querySelector("main").focus();
          return;
        }
        isHeld = wasHeld;
        enableButtons();
        setStatus(`The server has not accepted this: error ${response.status}. Nothing was written.`);
      })
      .catch(() => {
        enableButtons();
        setStatus("The server does not answer; nothing was sent.");
      });
  });

  // An error page links to the plan's page. Without a new load, what you have typed is still in its forms.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("main a[data-plan-page]");
    if (!isHeld || !link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    isHeld = false;
    update(true);
  });
})();
