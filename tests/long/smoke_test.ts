import assert from "node:assert/strict";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { startApplication } from "@/tests/application.ts";

const BYTES = new Uint8Array(2 * 1024 * 1024).fill(7);

// `tools/oldest_deno.ts` runs this file on the oldest version of Deno.
Deno.test("smoke: the application starts, serves its pages, and stores and returns bodies with and without a length", async () => {
  const application = await startApplication();
  const ask = (path: string, options?: RequestInit) => fetch(application.site + path, options);
  try {
    for (const path of ["healthz", "", "storage"]) {
      const response = await ask(path);
      const text = await response.text();
      assert.ok(response.ok, `${path}: ${response.status} ${text}`);
    }
    const login = await ask("api/v1/auth/token", {
      method: "POST",
      body: new URLSearchParams({ username: "archive/curator", password: SAMPLE_PASSWORD }),
    });
    const headers = { Authorization: `Bearer ${(await login.json()).access_token}` };
    const created = await ask("api/v1/buckets", { method: "POST", headers, body: '{"bucket":"smoke"}' });
    assert.ok(created.ok, await created.text());
    for (const [name, body] of [["length", BYTES], ["chunks", new Blob([BYTES]).stream()]] as const) {
      const path = `api/v1/buckets/smoke/objects/${name}`;
      const stored = await ask(path, { method: "PUT", headers, body });
      assert.ok(stored.ok, await stored.text());
      assert.deepEqual(await (await ask(path, { headers })).bytes(), BYTES);
    }
    const listed = await (await ask("api/v1/buckets/smoke/objects", { headers })).text();
    for (const name of ["length", "chunks"]) assert.ok(listed.includes(`"${name}"`), listed);
  } finally {
    assert.ok((await application.stop()).success);
  }
});
