/// <reference lib="deno.unstable" />
import assert from "node:assert/strict";

import { PROJECT_FOLDER } from "@/lib/site/site.ts";
import { readSources } from "@/tools/imports.ts";

/** Attributes and props whose value a reader sees or hears. */
const SPOKEN: ReadonlySet<unknown> = new Set([
  ...["alt", "label", "placeholder", "sentence", "summary", "text", "title"],
  ...["aria-description", "aria-label", "aria-roledescription", "aria-valuetext"],
]);
/** Folders of what readers see. */
const FOLDERS = ["components", "islands", "routes"];
/** Names, and the unit of bytes: the same in every language. */
const NAMES: ReadonlySet<string> = new Set(["Stackroom", "ALTO", "UTC", "/openapi.json", "B)"]);

/** The words in what an expression shows, rather than compares or passes on. */
function shown(node: Deno.lint.Node): string[] {
  if (node.type === "Literal") return typeof node.value === "string" ? [node.value] : [];
  if (node.type === "TemplateLiteral") {
    return [...node.quasis.map(({ cooked }) => cooked), ...node.expressions.flatMap(shown)];
  }
  if (node.type === "ConditionalExpression") return [node.consequent, node.alternate].flatMap(shown);
  if (node.type === "LogicalExpression") return [node.left, node.right].flatMap(shown);
  return node.type === "JSXExpressionContainer" ? shown(node.expression) : [];
}

function wordsIn(source: string, file = "page.tsx"): string[] {
  const plugin: Deno.lint.Plugin = {
    name: "words",
    rules: {
      jsx: {
        create: (context) => {
          const report = (node: Deno.lint.Node, texts: readonly string[]) => {
            for (const text of texts) {
              const words = text.replace(/&\w+;/g, "").trim();
              if (/\p{L}/u.test(words) && !NAMES.has(words)) context.report({ node, message: words });
            }
          };
          return {
            JSXText: (node) => report(node, [node.value]),
            JSXElement: ({ children }) => children.forEach((node) => report(node, shown(node))),
            JSXFragment: ({ children }) => children.forEach((node) => report(node, shown(node))),
            JSXAttribute: (node) => {
              if (node.value && SPOKEN.has(node.name.name)) report(node, shown(node.value));
            },
          };
        },
      },
    },
  };
  return Deno.lint.runPlugin(plugin, file, source).map(({ message }) => message).sort();
}

Deno.test("words in JSX: texts and spoken attributes are found, also in expressions, and nothing else", () => {
  const source = `
    const Page = ({ kind, n }: Props) => (
      <p class="no" title="one" data-x="no" style={{ label: "no" }} onClick={() => run("no", { title: "no" })}>
        two <b lang={\`no \${kind}\`} aria-label={n === "no" ? \`three \${find("no")}\` : "four"} /> – {n} {LABELS.no}
        {kind === "no" && "five"}
        {(n > 1 && ("six")) || list.map((row) => <i key="no" {...row}>{\`\${row} seven\`}</i>)}
        &nbsp;· 12 {"no" in LABELS && ["no"].map(String)}
      </p>
    );`;
  assert.deepEqual(wordsIn(source), ["five", "four", "one", "seven", "six", "three", "two"]);
});

Deno.test("words in JSX: pages, components and islands hold none, so that each language has its own", () => {
  const pages = [...readSources(PROJECT_FOLDER)].filter(([file]) =>
    file.endsWith(".tsx") && FOLDERS.some((folder) => file.startsWith(`${folder}/`))
  );
  assert.deepEqual(pages.flatMap(([file, source]) => wordsIn(source, file).map((words) => `${file}: ${words}`)), []);
});
