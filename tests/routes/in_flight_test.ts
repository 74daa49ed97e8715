import assert from "node:assert/strict";
import { connect } from "node:net";
import { issueToken, tokenKey } from "@/lib/auth/admission.ts";
import { type Handler, MAX_LOGINS_PER_ADDRESS } from "@/lib/http/request_context.ts";
import { NOW, SECRET, withGateway } from "./gateway_fixture.ts";
import { rawStore } from "./raw_store.ts";
import { head, slowClient } from "./slow_client.ts";

const O = "/api/v1/buckets/b/objects/";

/** Answers that begin at once and end when the test says so. */
function heldAnswers() {
  const open: ReadableStreamDefaultController<Uint8Array>[] = [];
  let cancelled = 0;
  const watching = new Set<() => void>();
  return {
    answer: () =>
      new Response(
        new ReadableStream<Uint8Array>({
          start(controller) {
            open.push(controller);
            controller.enqueue(new Uint8Array(10));
          },
          cancel() {
            cancelled++;
            watching.forEach((tell) => tell());
          },
        }),
      ),
    endAll() {
      for (const controller of open.splice(0)) controller.close();
    },
    cancelled: (count: number) =>
      new Promise<void>((resolve) => {
        const tell = () => cancelled >= count && resolve();
        watching.add(tell);
        tell();
      }),
  };
}

async function bearer(tenant: string | null) {
  const claims = { sub: "curator", pwd: "p4ssw0rd", tenant };
  return {
    Authorization: `Bearer ${await issueToken(claims, tokenKey(SECRET), {
      nowSeconds: NOW / 1000,
      lifetimeMinutes: 480,
    })}`,
  };
}

/** Asks until the answer is the wanted one: a place is free a moment after the last byte of an answer arrived. */
async function until(status: number, ask: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const response = await ask();
    if (response.status === status) return response;
    await response.body?.cancel();
  }
}

Deno.test("in flight: beyond the bound of the role 503 at once, streamed bodies count to their end, health is never counted", () =>
  withGateway({ app: { maxRequests: 3 } }, async ({ call, answer }) => {
    const held = heldAnswers();
    answer(held.answer);
    const downloads = [await call(`${O}1`), await call(`${O}2`), await call(`${O}3`)];
    for (const path of ["/api/v1/buckets", "/api/v1/capabilities", "/api/v1/buckets/b/uploads"]) {
      const refused = await call(path);
      assert.equal(refused.status, 503, path);
      assert.equal(refused.headers.get("retry-after"), "1");
      assert.equal(refused.headers.get("access-control-allow-origin"), null);
      assert.deepEqual(await refused.json(), { detail: "Too many requests at a time" });
    }
    const fromAPage = await call("/api/v1/buckets", { headers: { Origin: "https://page.example.org" } });
    assert.equal(fromAPage.headers.get("access-control-allow-origin"), "*", "a page may read the refusal");
    await fromAPage.body?.cancel();
    for (const path of ["/healthz", "/liveness", "/health", "/openapi.json"]) {
      assert.equal((await call(path)).status, 200, path);
    }
    held.endAll();
    for (const download of downloads) assert.equal((await download.bytes()).length, 10);
    await (await until(200, () => call("/api/v1/capabilities"))).body?.cancel();
  }));

Deno.test("in flight: a tenant has its share, other tenants and the open routes theirs", () =>
  withGateway({ gateway: { maxTenantRequests: 2 } }, async ({ origin, answer }) => {
    const held = heldAnswers();
    answer(held.answer);
    const get = async (tenant: string | null, path = `${O}k`) =>
      fetch(origin + path, { headers: await bearer(tenant) });
    const downloads = [await get("archive"), await get("Archive")];
    const refused = await get("archive");
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.get("retry-after"), "1");
    assert.deepEqual(await refused.json(), { detail: "Too many requests of this tenant at a time" });
    for (const other of ["archive2", null]) {
      const response = await get(other);
      assert.equal(response.status, 200);
      downloads.push(response);
    }
    assert.equal(
      (await fetch(`${origin}${O}k`, { headers: { Authorization: "Bearer x" } })).status,
      401,
      "who is not known takes nobody's share",
    );
    held.endAll();
    for (const download of downloads) await download.body?.cancel();
    downloads.push(await until(200, () => get("archive")));
    held.endAll();
    await downloads.at(-1)?.body?.cancel();
  }));

Deno.test("in flight: a place is given back when the client leaves, and when an answer is an error", () =>
  withGateway({ app: { maxRequests: 2 } }, async ({ origin, bearer, call, answer }) => {
    const held = heldAnswers();
    answer(held.answer);
    const sockets = ["a", "b"].map((key) => {
      const socket = connect(Number(new URL(origin).port), "127.0.0.1");
      socket.on("error", () => {});
      socket.write(`GET ${O}${key} HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer.Authorization}\r\n\r\n`);
      return socket;
    });
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once("data", resolve))));
    assert.equal((await call("/api/v1/capabilities")).status, 503);
    for (const socket of sockets) socket.destroy();
    await held.cancelled(2);
    await (await until(200, () => call("/api/v1/capabilities"))).body?.cancel();

    answer(() => new Response(null, { status: 404 }));
    for (let n = 0; n < 10; n++) {
      for (const init of [{}, { method: "HEAD" }, { method: "PATCH" }, { headers: { Authorization: "no" } }]) {
        const response = await until(expected(init), () => call(`${O}k`, init));
        await response.body?.cancel();
      }
    }
  }));

function expected(init: RequestInit): number {
  return init.method === "PATCH" ? 405 : init.headers ? 401 : 404;
}

Deno.test("in flight: without a connection a place is given back with the answer", () =>
  withGateway({ app: { maxRequests: 1 }, gateway: { maxTenantRequests: 1 } }, async ({ app, bearer, answer }) => {
    answer(() => new Response("x"));
    for (let n = 0; n < 5; n++) {
      assert.equal((await app.request(`${O}k`, { headers: bearer })).status, 200);
    }
  }));

Deno.test("in flight: the results role has a bound of its own, and health is never counted there either", async () => {
  const held = heldAnswers();
  const results = () => Promise.resolve(held.answer());
  await withGateway({ app: { maxRequests: 1, gateway: null, results } }, async ({ origin }) => {
    const first = await fetch(`${origin}/results/a`);
    const refused = await fetch(`${origin}/results/b`);
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.get("retry-after"), "1");
    await refused.body?.cancel();
    assert.equal((await fetch(`${origin}/healthz`)).status, 200);
    held.endAll();
    assert.equal((await first.bytes()).length, 10);
    await (await until(200, () => fetch(`${origin}/results/c`))).body?.cancel();
  });
});

Deno.test("in flight: clients that leave while the store is silent, or in mid-upload, give their places back", async () => {
  await using store = await rawStore(() => {});
  const max = 6;
  const deps = { app: { maxRequests: max }, gateway: { addresses: store.addresses, maxTenantRequests: max } };
  await withGateway(deps, async ({ origin, bearer, call }) => {
    const requests: [method: string, key: string][] = [
      ["GET", "k"],
      ["GET", "a/../k"],
      ["HEAD", "k"],
      ["DELETE", "k"],
      ["PUT", "k"],
      ["PUT", "a/../k"],
    ];
    for (let round = 1; round <= 3; round++) {
      const sockets = await Promise.all(requests.map(async ([method, key]) => {
        const arrived = store.next();
        const socket = connect(Number(new URL(origin).port), "127.0.0.1");
        socket.on("error", () => {});
        socket.write(
          `${method} ${O}${key} HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer.Authorization}\r\n` +
            (method === "PUT" ? `Content-Length: 1000000\r\n\r\n${"x".repeat(1000)}` : "\r\n"),
        );
        await arrived;
        return socket;
      }));
      assert.equal((await call("/api/v1/capabilities")).status, 503);
      for (const socket of sockets) socket.destroy();
      await store.closed(round * requests.length);
      await (await until(200, () => call("/api/v1/capabilities"))).body?.cancel();
    }
  });
});

Deno.test("in flight: logins of the results role that never send their body fill the places of their address alone", async () => {
  let arrived = 0;
  const full = Promise.withResolvers<void>();
  const results: Handler = async ({ request, method }) => {
    if (method === "POST" && ++arrived === MAX_LOGINS_PER_ADDRESS) full.resolve();
    return new Response(await request.text());
  };
  const app = { maxRequests: 2, gateway: null, results, resultsTrustedHops: 1 };
  await withGateway({ app }, async ({ origin }) => {
    const headers = { "Content-Length": "100", "X-Forwarded-For": "10.0.0.1" };
    const slow = Array.from(
      { length: MAX_LOGINS_PER_ADDRESS },
      () => slowClient(origin, head("POST", "/results/_login", headers)),
    );
    await full.promise;
    const status = async (address: string, init: RequestInit) => {
      const response = await fetch(`${origin}/results/_login`, { ...init, headers: { "X-Forwarded-For": address } });
      await response.body?.cancel();
      return response.status;
    };
    assert.equal(await status("10.0.0.1", { method: "POST", body: "x" }), 503);
    assert.equal(await status("10.0.0.2", { method: "POST", body: "x" }), 200);
    assert.equal(await status("10.0.0.1", {}), 200, "what brings no body has the places of the role");
    for (const client of slow) client[Symbol.dispose]();
  });
});
