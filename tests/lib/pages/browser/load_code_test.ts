import assert from "node:assert/strict";

import { isOutdated, loadCode, OutdatedPage } from "@/lib/pages/browser/load_code_client.tsx";

const SCRIPT = "http://here.example/build/site-AAAAAAAA.js";
const CHUNK_GONE = new TypeError("Failed to fetch dynamically imported module");

/** Runs a test on a page with a script, where requests for it end like this. */
async function onPage(respond: () => Response, test: () => Promise<void>): Promise<string[]> {
  const before = globalThis.fetch;
  const requested: string[] = [];
  Object.assign(globalThis, {
    document: { querySelector: () => ({ src: SCRIPT }) },
    fetch: (url: string, { method }: RequestInit) => {
      requested.push(`${method} ${url}`);
      // In a promise, as a lost network rejects.
      return Promise.resolve().then(respond);
    },
  });
  isOutdated.value = false;
  try {
    await test();
  } finally {
    Object.assign(globalThis, { fetch: before });
    Reflect.deleteProperty(globalThis, "document");
    isOutdated.value = false;
  }
  return requested;
}

Deno.test("load code: a page whose own script is gone is older than the server, unlike one in a lost network or with a server in trouble", async () => {
  const lost = () => {
    throw new TypeError("Failed to fetch");
  };
  const responses: [respond: () => Response, isOld: boolean][] = [
    [() => new Response(null, { status: 404 }), true],
    [lost, false],
    [() => new Response(), false],
    [() => new Response(null, { status: 502 }), false],
  ];
  for (const [respond, isOld] of responses) {
    const requested = await onPage(respond, async () => {
      await assert.rejects(loadCode(() => Promise.reject(CHUNK_GONE)), isOld ? OutdatedPage : CHUNK_GONE);
      assert.equal(isOutdated.value, isOld);
    });
    assert.deepEqual(requested, [`HEAD ${SCRIPT}`]);
  }
});

Deno.test("load code: what loads is returned, without a further request", async () => {
  const requested = await onPage(() => new Response(), async () => {
    assert.equal(await loadCode(() => Promise.resolve("code")), "code");
  });
  assert.deepEqual(requested, []);
});
