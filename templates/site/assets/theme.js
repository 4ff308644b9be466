// Applies the chosen theme before the page is drawn, and switches between system, light and dark.
"use strict";
(() => {
  const themes = ["system", "light", "dark"];
  const storage = (() => {
    try {
      return window.localStorage;
    } catch {
      return null; // a browser may block storage for files
    }
  })();
  const read = () => {
    const theme = storage?.getItem("execplan-theme");
    return themes.includes(theme) ? theme : "system";
  };
  const apply = (theme) => {
    if (theme === "system") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.setAttribute("data-theme", theme);
  };
  apply(read());
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("page-theme");
    let theme = read();
    const show = () => {
      button.textContent = `Theme: ${theme}`;
    };
    button.hidden = false;
    show();
    button.addEventListener("click", () => {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length];
      try {
        storage?.setItem("execplan-theme", theme);
      } catch {
        // the choice then lasts as long as the page
      }
      apply(theme);
      show();
    });
  });
})();
