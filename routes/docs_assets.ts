import { THEME_KEY } from "@/lib/presentation/browser_memory.ts";

/**
 * Starts Swagger UI. The path of an operation is text there, because a link inside the button that opens the operation
 * could not be told from it by a keyboard or a screen reader. The list of servers is left out: it has this one only.
 */
export const DOCS_START = `SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  validatorUrl: null,
  plugins: [(system) => {
    const { createElement } = system.React;
    return {
      components: {
        DeepLink: ({ text }) => createElement("span", { className: "nostyle" }, text),
        ServersContainer: () => null,
      },
    };
  }],
});
// What Swagger UI leaves out of its markup. It renders in many steps, so it is looked at once a frame.
const explorer = document.getElementById("swagger-ui");
let isDue = false;
const mend = () => {
  isDue = false;
  const information = explorer.querySelector(".information-container:not([role])");
  if (information) Object.assign(information, { role: "region", ariaLabel: "About this API" });
  const schemes = explorer.querySelector(".scheme-container:not([role])");
  if (schemes) Object.assign(schemes, { role: "region", ariaLabel: "Login" });
  // Headings begin one level below that of the page, which is the first.
  for (const heading of explorer.querySelectorAll(":is(h3, h4, h5):not([aria-level])")) {
    heading.ariaLevel = String(Number(heading.localName[1]) - 1);
  }
  for (const close of explorer.querySelectorAll(".close-modal:not([aria-label])")) close.ariaLabel = "Close";
  // What scrolls can be scrolled by keys.
  for (const code of explorer.querySelectorAll("pre.microlight:not([tabindex])")) code.tabIndex = 0;
  // The name of a button begins with the words on it (WCAG 2.2, 2.5.3).
  for (const button of explorer.querySelectorAll(".modal-btn[aria-label]")) {
    const name = button.ariaLabel;
    if (!name.startsWith(button.textContent)) button.ariaLabel = button.textContent + ": " + name;
  }
};
new MutationObserver(() => {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(mend);
}).observe(explorer, { childList: true, subtree: true });
`;

/**
 * The reader's theme, as on the other pages, before anything is painted. Swagger UI has dark colours, but leaves it to
 * the page to ask for them.
 */
export const DOCS_THEME = `const root = document.documentElement;
root.dataset.scripts = "";
try {
  const theme = localStorage.getItem("${THEME_KEY}");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
} catch {}
const dark = matchMedia("(prefers-color-scheme: dark)");
const paper = matchMedia("print");
const follow = () => {
  const { theme } = root.dataset;
  const isDark = theme === undefined ? dark.matches : theme === "dark";
  root.classList.toggle("dark-mode", isDark && !paper.matches);
};
dark.addEventListener("change", follow);
paper.addEventListener("change", follow);
new MutationObserver(follow).observe(root, { attributeFilter: ["data-theme"] });
follow();
`;

/** Stronger than the rules of Swagger UI, also than those of its dark mode. */
const ROOT = ":is(html, html.dark-mode)";

/** The colour of each method's name, dark enough for white letters. */
const METHODS = {
  get: "#174f8f",
  post: "#2b6a30",
  put: "#8a5200",
  delete: "#a3221a",
  patch: "#0b6b66",
  head: "#6b3a8e",
};
const METHOD_STYLES = Object.entries(METHODS).map(([method, colour]) =>
  `${ROOT} .swagger-ui .opblock.opblock-${method} .opblock-summary-method {
  background: ${colour};
}`
).join("\n");

/** What Swagger UI lacks: contrast, and the page's own frame. */
export const DOCS_STYLES = `.without-scripts {
  padding: 24px;
}
html[data-scripts] .without-scripts {
  display: none;
}
/* The colours of the site, so that the page goes on below the bar. */
${ROOT} :is(body, .swagger-ui, .swagger-ui .scheme-container) {
  background: light-dark(#f7f5f1, #151412);
  box-shadow: none;
}
html.dark-mode {
  background: #151412;
}
.swagger-ui .scheme-container {
  padding: 0 0 20px;
}
.swagger-ui .info {
  margin: 30px 0;
}
/* Letters on colours: 4.5:1 at least. */
${ROOT} .swagger-ui .opblock[class] .opblock-summary-method {
  color: #ffffff;
  text-shadow: none;
}
${METHOD_STYLES}
${ROOT} .swagger-ui .info .title small {
  background: #5f5a51;
}
${ROOT} .swagger-ui .info .title small.version-stamp {
  background: #2b6a30;
}
.swagger-ui .info .title small pre {
  color: #ffffff;
}
${ROOT} .swagger-ui .info :is(a, a .url) {
  color: light-dark(#174f8f, #8fbcf2);
}
.swagger-ui [class*="json-schema-2020-12"][class*="button"],
.swagger-ui .parameter__in,
.swagger-ui .response-control-media-type__accept-message,
.swagger-ui .response-control-media-type__accept-message code {
  color: light-dark(#635e55, #a9a397);
}
${ROOT} .swagger-ui .btn.cancel {
  border-color: light-dark(#a3221a, #f2968c);
  color: light-dark(#a3221a, #f2968c);
}
${ROOT} .swagger-ui .btn.execute {
  border-color: #174f8f;
  background: #174f8f;
  color: #ffffff;
}
${ROOT} .swagger-ui .btn.authorize {
  border-color: light-dark(#2b6a30, #8cc98f);
  color: light-dark(#2b6a30, #8cc98f);
}
.swagger-ui .btn.authorize svg {
  fill: currentColor;
}
/* Copying a path is a target of its own, also for a keyboard, not only under the pointer. */
.swagger-ui .opblock .opblock-summary .view-line-link.copy-to-clipboard,
.swagger-ui .opblock .opblock-summary:hover .view-line-link.copy-to-clipboard {
  flex: none;
  width: 26px;
  margin: 0 5px;
}
.swagger-ui .opblock-summary button:not(.opblock-summary-control) {
  min-width: 24px;
  min-height: 24px;
}
/* Names may break anywhere rather than widen the page. */
.swagger-ui .opblock-summary-path {
  overflow-wrap: anywhere;
}
.swagger-ui :is(button, a, input, select, textarea, summary):focus-visible,
.swagger-ui .opblock-summary-control:focus-visible {
  outline: 2px solid light-dark(#174f8f, #8fbcf2);
  outline-offset: 2px;
}
/* On a phone the page begins as the others do: at the same edge, with a heading of the same size. */
@media (max-width: 640px) {
  .swagger-ui .wrapper,
  .swagger-ui .scheme-container .schemes {
    padding: 0 12px;
  }
  .swagger-ui .info {
    margin: 16px 0;
  }
  .swagger-ui .info .title {
    font-size: 20px;
  }
  .swagger-ui .information-container {
    padding: 0 12px;
  }
  .swagger-ui .opblock-tag-section,
  .swagger-ui .wrapper > .block {
    padding: 0;
  }
  .swagger-ui .opblock-tag {
    padding: 10px 0;
    font-size: 16px;
  }
  /* Responses of this API have no links, and a screen of 320 px has no room to say so. */
  .swagger-ui .response-col_links {
    display: none;
  }
}
/* Its code has colours of its own in every element. */
@media (forced-colors: active) {
  .swagger-ui .microlight,
  .swagger-ui .microlight * {
    background: Canvas !important;
    color: CanvasText !important;
  }
}
@media print {
  ${ROOT} :is(body, .swagger-ui, .swagger-ui .scheme-container) {
    background: #ffffff;
  }
  .swagger-ui .scheme-container,
  .swagger-ui .try-out {
    display: none;
  }
}
`;
