import assert from "node:assert/strict";
import { ownKeyIdentities, storeIdentities } from "@/lib/auth/store_credentials.ts";
import { gatewayTest, nowhere, withGateway } from "@/tests/routes/gateway_fixture.ts";
import { rawStore } from "@/tests/routes/raw_store.ts";

const TENANTS = "/api/v1/mapi/tenants";
const NAMESPACES = `${TENANTS}/archive/namespaces`;

gatewayTest("tenants: listed with the caller's header and all list parameters", async ({ call, answer, seen }) => {
  answer(() => Response.json({ name: ["a", "b"], extra: 1 }));
  const response = await call(
    `${TENANTS}?offset=1&count=2&sortType=name&sortOrder=desc&filterType=name&filterString=a%20b&verbose=YES&odd=1`,
  );
  assert.deepEqual(await response.json(), { name: ["a", "b"], extra: 1 });
  const [{ method, target, headers }] = seen;
  assert.equal(method, "GET");
  assert.equal(headers.get("authorization"), "HCP Y3VyYXRvcg==:2a9d119df47ff993b662a8ef36f9ea20");
  assert.equal(headers.get("accept"), "application/json");
  assert.equal(headers.get("content-type"), null);
  assert.equal(
    target,
    "/mapi/tenants?offset=1&count=2&sortType=name&sortOrder=descending&filterType=name&filterString=a%20b&verbose=true",
  );
  await (await call(TENANTS)).body?.cancel();
  assert.equal(seen[1].target, "/mapi/tenants?verbose=false");
  for (const query of ["verbose=maybe", "sortOrder=up", "offset=-1", "count=x"]) {
    assert.equal((await call(`${TENANTS}?${query}`)).status, 422, query);
  }
});

gatewayTest(
  "tenants: full records pass as an array, an empty answer has no names, nonsense is 502",
  async ({ call, answer }) => {
    const list = async (body: string) => {
      answer(() => new Response(body));
      const response = await call(TENANTS);
      return [response.status, await response.json()];
    };
    assert.deepEqual(await list('[{"name":"a"}]'), [200, [{ name: "a" }]]);
    assert.deepEqual(await list(""), [200, { name: null }]);
    assert.deepEqual(await list("not json"), [200, { name: null }]);
    assert.deepEqual(await list('{"name":5}'), [502, { detail: "tenants: the store's answer is not MAPI's" }]);
  },
);

gatewayTest("mapi: every status of the store has its answer", async ({ call, answer }) => {
  const table: [number, number, string][] = [
    [302, 404, "tenants not found or no permission"],
    [400, 400, "why"],
    [401, 401, "HCP authentication failed"],
    [403, 403, "why"],
    [404, 404, "tenants not found"],
    [405, 405, "Method not allowed for this resource"],
    [409, 409, "tenants: why"],
    [414, 414, "Request URI too large"],
    [415, 415, "Unsupported media type"],
    [418, 502, "Unexpected HCP status 418: why"],
    [500, 502, "HCP internal error: why"],
    [503, 503, "HCP unavailable: why"],
    [507, 507, "tenants: why"],
  ];
  for (const [status, expected, detail] of table) {
    answer(() => new Response("body", { status, headers: { "X-HCP-ErrorMessage": "why" } }));
    const response = await call(TENANTS);
    assert.equal(response.status, expected);
    assert.deepEqual(await response.json(), { detail });
    assert.equal(response.headers.get("www-authenticate"), null);
  }
  answer(() => new Response("only a body with password=abc", { status: 403 }));
  assert.deepEqual(await (await call(TENANTS)).json(), { detail: "only a body with password=[redacted]" });
  answer(() => new Response("", { status: 403 }));
  assert.deepEqual(await (await call(TENANTS)).json(), { detail: "HCP returned 403" });
});

gatewayTest(
  "namespaces: one that exists is 409, and each member that does not fit is named",
  async ({ call, answer }) => {
    answer(() => new Response("", { status: 409, headers: { "X-HCP-ErrorMessage": "exists" } }));
    const again = await call(NAMESPACES, { method: "PUT", body: '{"name":"notes"}' });
    assert.deepEqual([again.status, await again.json()], [409, { detail: "namespace: exists" }]);
    const refused = await call(NAMESPACES, { method: "PUT", body: '{"optimizedFor":"SPEED","softQuota":101}' });
    assert.equal(refused.status, 422);
    assert.deepEqual((await refused.json()).detail, [
      { type: "missing", loc: ["body", "name"], msg: "Field required" },
      {
        type: "less_than_equal",
        loc: ["body", "softQuota"],
        msg: "Input should be less than or equal to 100",
        ctx: { le: 100 },
        input: 101,
      },
      {
        type: "enum",
        loc: ["body", "optimizedFor"],
        msg: "Input should be 'CLOUD' or 'ALL'",
        ctx: { expected: "'CLOUD' or 'ALL'" },
        input: "SPEED",
      },
    ]);
  },
);

gatewayTest("mapi: names in the path stay one segment", async ({ call, answer, seen }) => {
  answer(() => Response.json({ name: [] }));
  await (await call(`${TENANTS}/a%3Fb%23%25%2Fc%20d/namespaces`)).body?.cancel();
  assert.equal(seen[0].target, "/mapi/tenants/a%3Fb%23%25%2Fc%20d/namespaces?verbose=false");
  await (await call(`${TENANTS}/%252e%252e/namespaces`)).body?.cancel();
  assert.equal(seen[1].target, "/mapi/tenants/%252e%252e/namespaces?verbose=false");
});

Deno.test("mapi: switched off it is not there, on a generic identity it is refused", async () => {
  await withGateway({ gateway: { mapiEnabled: false, backend: "minio" } }, async ({ call, app }) => {
    assert.equal((await call(TENANTS)).status, 404);
    assert.deepEqual(await (await app.request("/api/v1/capabilities")).json(), {
      mapi_enabled: false,
      storage_backend: "minio",
    });
    assert.equal((await app.request("/api/v1/buckets")).status, 401);
  });
  // Whatever signs towards S3, the management API is told who logged in.
  await withGateway({ identify: ownKeyIdentities("native") }, async ({ call, seen }) => {
    await (await call(TENANTS)).body?.cancel();
    assert.match(seen[0].headers.get("authorization") ?? "", /^HCP /);
  });
});

gatewayTest(
  "cors: removing rules that are not there does not say that the tenant is absent",
  async ({ call, answer }) => {
    answer(() => new Response("", { status: 404 }));
    for (const [path, what] of [["", "tenant 'archive'"], ["/namespaces/letters", "namespace 'letters'"]]) {
      const response = await call(`/api/v1/mapi/tenants/archive${path}/cors`, { method: "DELETE" });
      assert.deepEqual([response.status, await response.json()], [404, { detail: `CORS rules of ${what} not found` }]);
    }
  },
);

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

gatewayTest(
  "lists: full records beyond 8 MiB go on as the store gives them, with or without their length",
  async ({ call, answer }) => {
    const bytes = new TextEncoder().encode(RECORDS);
    for (const list of LISTS) {
      answer(() => new Response(list.includes("group") ? new Blob([bytes]).stream() : bytes));
      const response = await call(`${list}?verbose=true`);
      assert.deepEqual([response.status, response.headers.get("content-type")], [200, "application/json"], list);
      assert.equal(response.headers.get("cache-control"), "private, no-store");
      assert.ok(response.headers.has("x-request-id"));
      assert.equal(await response.text(), RECORDS);
    }
  },
);

gatewayTest("lists: names, or what is no list of records, are bounded as every answer is", async ({ call, answer }) => {
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

gatewayTest("lists: a store that breaks off in a long one breaks the answer off as well", async ({ call, answer }) => {
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

const PATH = "/api/v1/mapi/tenants/archive/contactInfo";
const TIMEOUT_MS = 300;

const OK = "HTTP/1.1 200 OK\r\nContent-Length:";

/** What a store says, and whether it ends the connection with that. */
const ANSWERS: [what: string, said: string, ends: boolean, status: number, detail: string][] = [
  ["no HTTP at all", "SSH-2.0-OpenSSH_9.6\r\n", true, 502, "HCP connection error"],
  ["nothing", "", false, 504, "HCP timed out"],
  ["a cut before the headers end", "HTTP/1.1 200 OK\r\nContent-Le", true, 502, "HCP connection error"],
  ["a cut in the body", `${OK} 100\r\n\r\n{"city":`, true, 502, "HCP connection error"],
  ["a body that stops", `${OK} 100\r\n\r\n{"city":`, false, 504, "HCP timed out"],
  [
    "a redirect elsewhere",
    "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
    false,
    404,
    "tenant 'archive' not found or no permission",
  ],
  [
    "a record of another shape",
    `${OK} 10\r\n\r\n{"city":5}`,
    false,
    502,
    "tenant 'archive': the store's answer is not MAPI's",
  ],
];

for (const [what, said, ends, status, detail] of ANSWERS) {
  Deno.test(`hostile store: ${what} is a clear ${status}`, async () => {
    await using store = await rawStore((socket) => ends ? socket.end(said) : socket.write(said));
    // Only those that end by the timeout get a short one.
    const timeoutMs = status === 504 ? TIMEOUT_MS : undefined;
    await withGateway({ timeoutMs, gateway: { addresses: store.addresses } }, async ({ call }) => {
      const response = await call(PATH);
      assert.deepEqual([response.status, await response.json()], [status, { detail }]);
    });
  });
}

Deno.test("hostile store: where a record is due, a body of 100 MB is not read", async () => {
  await using store = await rawStore((socket) => {
    socket.write(`${OK} 104857600\r\n\r\n`);
    const more = () => {
      while (!socket.destroyed && socket.write(" ".repeat(1024 * 1024))) { /* until the gateway takes no more */ }
    };
    socket.on("drain", more);
    more();
  });
  await withGateway({ gateway: { addresses: store.addresses } }, async ({ call }) => {
    const response = await call(PATH);
    const detail = "HCP connection error: more than 8388608 bytes";
    assert.deepEqual([response.status, await response.json()], [502, { detail }]);
    await store.closed(1);
  });
});

gatewayTest("hostile store: an address without a server is 502", async ({ call }) => {
  const response = await call(PATH);
  assert.deepEqual([response.status, await response.json()], [502, { detail: "HCP unreachable" }]);
}, { gateway: { addresses: nowhere() } });

gatewayTest(
  "management: under `ad` the store is sent the user name and the password as they are",
  async ({ call, answer, seen }) => {
    answer(() => new Response("{}"));
    await (await call(PATH)).body?.cancel();
    assert.equal(seen[0].headers.get("authorization"), "AD curator:p4ssw0rd");
  },
  { identify: storeIdentities("ad") },
);
