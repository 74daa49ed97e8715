/*
 * Starts Swagger UI. The path of an operation is text there, because a link inside the button that opens the operation
 * could not be told from it by a keyboard or a screen reader. The list of servers is left out: it has this one only.
 */
SwaggerUIBundle({
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
// Adds what Swagger UI leaves out of its markup. It renders in many steps, so it is looked at once a frame.
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
  // Boxes that scroll can be scrolled by keys.
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
