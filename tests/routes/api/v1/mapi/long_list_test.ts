import assert from "node:assert/strict";
import { withGateway } from "@/tests/routes/gateway_fixture.ts";

const TENANT = "/api/v1/mapi/tenants/archive";
const LISTS = [
  "/api/v1/mapi/tenants",
  `${TENANT}/userAccounts`,
  `${TENANT}/groupAccounts`,
  `${TENANT}/contentClasses`,
  `${TENANT}/namespaces`,
  `${TENANT}/namespaces/letters/retentionClasses`,
];

/** Records of 1 kB, more than 8 MiB of them. */
const RECORDS = JSON.stringify(
  Array.from({ length: 10_000 }, (_, i) => ({ name: `n${i}`, description: "å".repeat(480), tags: { tag: ['[{\\"'] } })),
);

Deno.test("lists: full records beyond 8 MiB go on as the store gives them, with or without their length", async () => {
  await withGateway({}, async ({ call, answer }) => {
    const bytes = new TextEncoder().encode(RECORDS);
    for (const list of LISTS) {
      answer(() => new Response(list.includes("group") ? new Blob([bytes]).stream() : bytes));
      const response = await call(`${list}?verbose=true`);
      assert.deepEqual([response.status, response.headers.get("content-type")], [200, "application/json"], list);
      assert.equal(response.headers.get("cache-control"), "private, no-store");
      assert.ok(response.headers.has("x-request-id"));
      assert.equal(await response.text(), RECORDS);
    }
  });
});

Deno.test("lists: names, or what is no list of records, are bounded as every answer is", async () => {
  await withGateway({}, async ({ call, answer }) => {
    const detail = "HCP connection error: more than 8388608 bytes";
    answer(() => new Response(RECORDS));
    const names = await call(LISTS[4]);
    assert.deepEqual([names.status, await names.json()], [502, { detail }]);
    answer(() => new Response(JSON.stringify({ name: [RECORDS] })));
    const noList = await call(`${LISTS[4]}?verbose=true`);
    assert.deepEqual([noList.status, await noList.json()], [502, { detail }]);
    answer(() => new Response(RECORDS, { status: 403, headers: { "X-HCP-ErrorMessage": "no" } }));
    assert.equal((await (await call(`${LISTS[4]}?verbose=true`)).json()).detail, detail);
  });
});

Deno.test("lists: a store that breaks off in a long one breaks the answer off as well", async () => {
  await withGateway({}, async ({ call, answer }) => {
    answer(() => {
      const bytes = new TextEncoder().encode(RECORDS.slice(0, -100));
      let isSent = false;
      const pull = (controller: ReadableStreamDefaultController) => {
        if (isSent) return controller.error(new Error("broken off"));
        controller.enqueue(bytes);
        isSent = true;
      };
      return new Response(new ReadableStream({ pull }));
    });
    const response = await call(`${LISTS[1]}?verbose=true`);
    assert.equal(response.status, 200);
    await assert.rejects(response.text());
    // The gateway is none the worse for it.
    answer(() => new Response("[]"));
    assert.deepEqual(await (await call(`${LISTS[1]}?verbose=true`)).json(), []);
  });
});
