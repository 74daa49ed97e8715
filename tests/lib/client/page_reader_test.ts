import assert from "node:assert/strict";

import { PageReader } from "@/lib/client/page_reader.ts";
import { ALTO_4 } from "@/tests/lib/presentation/alto/samples.ts";

const VOLUME = "https://site.example/results/ns/p/v";
const SRC = `${VOLUME}/alto/0003.xml`;

/** A reader of pages from answers by address; other addresses are 404. */
function pageReader(answers: Readonly<Record<string, () => Response>>) {
  const requested: string[] = [];
  let logins = 0;
  const reader = new PageReader(SRC, null, {
    fetch: (input) => {
      requested.push(String(input));
      return Promise.resolve(answers[String(input)]?.() ?? new Response("", { status: 404 }));
    },
    onLogin: () => logins++,
  });
  return { reader, requested, logins: () => logins };
}

Deno.test("page reader: the page, then its place in the volume's manifest", async () => {
  const manifest = { items: [{}, {}, { seeAlso: [{ id: SRC }] }] };
  const { reader, requested } = pageReader({
    [SRC]: () => new Response(ALTO_4),
    [`${VOLUME}/iiif.json`]: () => Response.json(manifest),
  });
  await reader.start();
  assert.equal(reader.page.value?.blocks[0].lines.length, 2);
  assert.equal(reader.viewer.value, `/uv.html#?manifest=${encodeURIComponent(`${VOLUME}/iiif.json`)}&cv=2`);
  assert.equal(reader.problem.value, null);
  const linesOfFile = () => reader.printed.value?.lines.length;
  assert.equal(linesOfFile(), undefined);
  await reader.print();
  assert.equal(linesOfFile(), 21);
  assert.deepEqual(requested, [SRC, `${VOLUME}/iiif.json`]);
});

Deno.test("page reader: a manifest that is absent, no JSON or without the page gives no link", async () => {
  const answers: (() => Response)[] = [
    () => new Response("", { status: 403 }),
    () => new Response("<html>"),
    () => Response.json({ items: [] }),
  ];
  for (const answer of answers) {
    const { reader } = pageReader({ [SRC]: () => new Response(ALTO_4), [`${VOLUME}/iiif.json`]: answer });
    await reader.start();
    assert.deepEqual([reader.viewer.value, reader.problem.value, reader.page.value === null], [null, null, false]);
  }
});

Deno.test("page reader: an ended session leads to the login and is no problem of the page", async () => {
  const { reader, logins } = pageReader({ [SRC]: () => new Response("", { status: 401 }) });
  await reader.start();
  assert.deepEqual([logins(), reader.problem.value], [1, null]);
});

Deno.test("page reader: a status, a broken connection and a file that is no page are problems; the file is laid out", async () => {
  const missing = pageReader({});
  await missing.reader.start();
  assert.equal(missing.reader.problem.value, 404);
  const broken = new PageReader(SRC, null, { fetch: () => Promise.reject(new TypeError("no")), onLogin: () => {} });
  await broken.start();
  assert.equal(broken.problem.value, "unreachable");
  const { reader, requested } = pageReader({ [SRC]: () => new Response("<alto>\n<") });
  await reader.start();
  assert.equal(reader.problem.value, "not XML");
  assert.deepEqual(reader.printed.value?.lines, ["<alto>", "<"]);
  assert.deepEqual(requested, [SRC]);
});

Deno.test("page reader: one that is stopped shows nothing more and cancels its request", async () => {
  let isCancelled = false;
  const reader = new PageReader(SRC, null, {
    fetch: (_, init) =>
      new Promise((_, reject) => {
        init?.signal?.addEventListener("abort", () => {
          isCancelled = true;
          reject(init.signal?.reason);
        });
      }),
    onLogin: () => {},
  });
  const done = reader.start();
  reader.stop();
  await done;
  assert.deepEqual([isCancelled, reader.page.value, reader.problem.value], [true, null, null]);
});
