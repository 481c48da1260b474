// Outputs of notebooks ask for JupyterLab's theme; the site's has three states, of which one follows the system.
const system = matchMedia("(prefers-color-scheme: dark)");
function tellTheme() {
  const theme = document.body.dataset.theme;
  document.body.dataset.jpThemeLight = String(theme === "light" || (theme !== "dark" && !system.matches));
}
// What the theme leaves to be said to screen readers and to the keyboard: levels, names of landmarks, scrollable parts.
document.addEventListener("DOMContentLoaded", () => {
  tellTheme();
  system.addEventListener("change", tellTheme);
  new MutationObserver(tellTheme).observe(document.body, { attributes: true, attributeFilter: ["data-theme"] });
  if (!document.querySelector("h1")) {  // the page of the search
    const title = document.createElement("h1");
    title.textContent = document.title.split(" - ")[0];
    document.querySelector("article")?.prepend(title);
  }
  for (const caption of document.querySelectorAll("p.caption[role=heading]")) caption.setAttribute("aria-level", "2");
  const names = { ".sidebar-drawer": "Site menu", ".toc-drawer": "On this page" };
  for (const [selector, name] of Object.entries(names)) {
    for (const part of document.querySelectorAll(selector)) part.setAttribute("aria-label", name);
  }
  for (const icons of document.querySelectorAll(".content-icon-container")) {
    icons.setAttribute("role", "navigation");
    icons.setAttribute("aria-label", "This page");
  }
  // pandas leaves headers of columns without a name empty
  for (const head of document.querySelectorAll("table.dataframe thead th:empty")) head.replaceWith(document.createElement("td"));
  for (const part of document.querySelectorAll("pre, .table-wrapper, .cell_output .output")) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
  }
});
