import assert from "node:assert/strict";

import { renderToString } from "preact-render-to-string";

import { island } from "@/lib/pages/browser/island.tsx";
import { utilities } from "@/lib/site/bundle.ts";

Deno.test("island: is rendered with its name and its props as data", () => {
  const Hello = island("hello", ({ name }: { name: string }) => <p>Hej {name}</p>);
  const name = '<Åsa> "';
  assert.equal(
    renderToString(<Hello name={name} />),
    `<div data-island="hello" data-props="{&quot;name&quot;:&quot;&lt;Åsa> \\&quot;&quot;}"><p>Hej &lt;Åsa> &quot;</p></div>`,
  );
});

Deno.test("island: props that JSON would lose are refused by their type", () => {
  // @ts-expect-error: a function does not cross.
  island("broken", ({ onClick }: { onClick: () => void }) => <button type="button" onClick={onClick}>x</button>);
});

Deno.test("stylesheet: has the utilities that sources use, from every way to write a class", () => {
  const css = utilities([`<p class="flex card">`, '<p class={`pt-3 ${x ? "text-bad" : ""}`}>', `const text = "pb-1";`]);
  for (const rule of [".flex", ".pt-3", ".text-bad", "var(--bad)"]) assert.ok(css.includes(rule), rule);
  assert.ok(!css.includes(".pb-1"));
});
