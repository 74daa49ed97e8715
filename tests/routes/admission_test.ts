import assert from "node:assert/strict";
import { GuessLimits, MAX_WRONG_PER_ACCOUNT, MAX_WRONG_PER_ADDRESS } from "@/lib/auth/credential_memory.ts";
import { sharedKeyIdentities } from "@/lib/auth/store_credentials.ts";
import { issueToken, tokenKey } from "@/lib/auth/admission.ts";
import { MAX_LOGINS_PER_ADDRESS } from "@/lib/http/request_context.ts";
import { type FakeAnswer, gatewayTest, NOW, s3Error, SECRET, withGateway } from "./gateway_fixture.ts";
import { head, slowClient } from "./slow_client.ts";

const O = "/api/v1/buckets/b/objects/";
const RIGHT = `Credential=${btoa("curator")}/`;

async function bearer(sub: string, pwd = "p4ssw0rd", tenant: string | null = "archive") {
  return {
    Authorization: `Bearer ${await issueToken({ sub, pwd, tenant }, tokenKey(SECRET), {
      nowSeconds: NOW / 1000,
      lifetimeMinutes: 480,
    })}`,
  };
}

/** A client behind a proxy of ours. */
const from = (address: string) => ({ "X-Forwarded-For": address });
const behindProxy = { app: { trustedHops: 1 } };

/** A store that knows the curator alone, and says of everybody else that the signature is wrong. */
const judging: FakeAnswer = (request) =>
  request.headers.get("Authorization")?.includes(RIGHT)
    ? new Response(request.method === "HEAD" ? null : "<x/>", { headers: { ETag: '"e"' } })
    : s3Error(403, "SignatureDoesNotMatch", "wrong");

async function statusOf(response: Response | Promise<Response>): Promise<number> {
  const { status, body } = await response;
  await body?.cancel();
  return status;
}

Deno.test("admission: bodies of invented credentials that never come take no place, and are refused at once", async () => {
  const deps = { app: { maxRequests: 4, trustedHops: 1 }, gateway: { maxTenantRequests: 2 } };
  await withGateway(deps, async ({ origin, call, answer, seen }) => {
    answer(judging);
    const framings: Record<string, string>[] = [{ "Content-Length": "100" }, { "Transfer-Encoding": "chunked" }];
    for (const framing of framings) {
      for (const [method, path] of [["PUT", `${O}k`], ["POST", "/api/v1/buckets"], ["POST", `${O}delete`]]) {
        const clients = await Promise.all(Array.from({ length: 20 }, async (_, n) => {
          const headers = { ...await bearer(`invented${n}`), ...framing, ...from(`10.1.${seen.length & 255}.${n}`) };
          return slowClient(origin, head(method, path, headers) + ("Content-Length" in framing ? "x" : "1\r\nx\r\n"));
        }));
        for (const { status } of clients) {
          assert.equal(await status, 401, `${method} ${path}`);
        }
        assert.equal(await statusOf(call(`${O}k`)), 200);
        clients.forEach((client) => client[Symbol.dispose]());
      }
    }
    assert.ok(seen.every(({ method, headers }) => method === "GET" || headers.get("authorization")?.includes(RIGHT)));
  });
});

Deno.test("admission: a client that has just logged in starts many uploads and small requests at once, with one proof", async () => {
  await withGateway({ proven: false }, async ({ call, answer, seen }) => {
    answer(judging);
    const put = (n: number) =>
      call(`/api/v1/buckets/b/multipart/k?upload_id=u&part_number=${n}`, { method: "PUT", body: "x".repeat(1000) });
    const parts = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => statusOf(put(n))));
    assert.deepEqual(parts, Array(6).fill(200));
    assert.equal(seen.filter(({ method, target }) => method === "GET" && target === "/").length, 1);
    assert.equal(seen.filter(({ method }) => method === "PUT").length, 6);
  });
  await withGateway({ proven: false }, async ({ call, answer }) => {
    answer(judging);
    const asked = Array.from({ length: 16 }, (_, n) => statusOf(call(`${O}${n}`, { method: n % 2 ? "HEAD" : "GET" })));
    assert.deepEqual(await Promise.all(asked), Array(16).fill(200));
  });
});

gatewayTest(
  "admission: a hundred workers of one address log in and begin at once, each with an account, and none is refused",
  async ({ origin, answer }) => {
    answer(() => new Response("<x/>", { headers: { ETag: '"e"' } }));
    const work = async (n: number) => {
      const login = await fetch(`${origin}/api/v1/auth/token`, {
        method: "POST",
        body: new URLSearchParams({ username: `archive/worker${n}`, password: "p4ssw0rd" }),
      });
      const { access_token } = await login.json();
      const headers = { Authorization: `Bearer ${access_token}` };
      return [login.status, await statusOf(fetch(`${origin}${O}k`, { headers }))];
    };
    const statuses = await Promise.all(Array.from({ length: 100 }, (_, n) => work(n)));
    assert.deepEqual(statuses, Array(100).fill([200, 200]));
  },
  { proven: false },
);

Deno.test("admission: a request whose credentials turn out right counts for its tenant from then on", () =>
  withGateway({ proven: false, gateway: { maxTenantRequests: 1 } }, async ({ call, answer }) => {
    let end = () => {};
    answer(() =>
      new Response(
        new ReadableStream<Uint8Array>({
          start(controller) {
            controller.enqueue(new Uint8Array(10));
            end = () => controller.close();
          },
        }),
      )
    );
    const download = await call(`${O}k`);
    assert.equal(await statusOf(call(`${O}k`)), 503, "the tenant's only place is taken");
    end();
    assert.equal((await download.bytes()).length, 10);
  }));

Deno.test("admission: only an answer that judges the signature proves it", async () => {
  const cases: [string, () => Response, number][] = [
    ["no permission", () => s3Error(403, "AccessDenied", "no"), 2],
    ["no bucket", () => s3Error(404, "NoSuchBucket", "no"), 2],
    ["no list of buckets", () => s3Error(501, "NotImplemented", "no"), 2],
    ["the wrong secret", () => s3Error(403, "SignatureDoesNotMatch", "no"), 1],
    ["an unknown key", () => s3Error(403, "InvalidAccessKeyId", "no"), 1],
    ["a bare 403", () => new Response(null, { status: 403 }), 1],
    ["a busy store", () => s3Error(503, "SlowDown", "no"), 1],
  ];
  for (const [name, refusal, requests] of cases) {
    await withGateway({ proven: false }, async ({ call, answer, seen }) => {
      answer((_request, { method }) => method === "GET" ? refusal() : new Response(null, { headers: { ETag: '"e"' } }));
      await statusOf(call(`${O}k`, { method: "PUT", body: "x" }));
      assert.equal(seen.length, requests, name);
    });
  }
});

Deno.test("admission: a port that refuses every login admits none", async () => {
  let endpoint = "";
  const addresses = {
    s3: () => Promise.resolve({ endpoint, publicEndpoint: endpoint, ignoresKeys: true }),
    mapi: () => Promise.resolve(endpoint),
  };
  await withGateway({ proven: false, gateway: { addresses } }, async ({ storeOrigin, call, answer, seen }) => {
    endpoint = storeOrigin;
    answer(() => s3Error(403, "AccessDenied", "everybody"));
    assert.equal(await statusOf(call(O + "k")), 403);
    assert.equal(await statusOf(call(O + "k", { method: "PUT", body: "x" })), 403);
    assert.deepEqual(seen.map(({ method }) => method), ["GET", "GET"], "the body went nowhere");
  });
});

Deno.test("guessing: ten wrong passwords for an account through S3 routes, then 429, for that address and account alone", async () => {
  let now = NOW;
  const guesses = new GuessLimits(() => now);
  await withGateway({ ...behindProxy, gateway: { guesses } }, async ({ origin, call, answer, seen }) => {
    answer((request) =>
      request.headers.get("Authorization")?.includes(RIGHT)
        ? s3Error(403, "SignatureDoesNotMatch", "no")
        : judging(request, seen[0])
    );
    const guess = async (n: number, address = "10.0.0.1", user = "curator") =>
      fetch(`${origin}${O}k`, { headers: { ...await bearer(user, `guess${n}`), ...from(address) } });
    for (let n = 0; n < MAX_WRONG_PER_ACCOUNT; n++) assert.equal(await statusOf(guess(n)), 401);
    const blocked = await guess(99);
    assert.deepEqual([blocked.status, blocked.headers.get("retry-after")], [429, "5"]);
    assert.deepEqual(await blocked.json(), { detail: "Too many wrong passwords for this account, try again in 5 s" });
    assert.equal(seen.length, MAX_WRONG_PER_ACCOUNT);
    assert.equal(await statusOf(guess(99, "10.0.0.2")), 401, "another address");
    assert.equal(await statusOf(guess(99, "10.0.0.1", "other")), 401, "another account");
    now += 5000;
    assert.equal(await statusOf(guess(99)), 401);
    assert.equal((await guess(99)).headers.get("retry-after"), "10");
    answer(judging);
    assert.equal(await statusOf(call(`${O}k`, { headers: from("10.0.0.1") })), 200, "right and lately accepted");
    const login = await fetch(`${origin}/api/v1/auth/token`, {
      method: "POST",
      headers: from("10.0.0.1"),
      body: new URLSearchParams({ username: "archive/curator", password: "guess" }),
    });
    assert.equal(await statusOf(login), 200, "a login proves nothing");
  });
});

Deno.test("guessing: sixty wrong passwords of an address for whatever accounts, by either protocol", () =>
  withGateway(behindProxy, async ({ origin, answer, seen }) => {
    answer((_request, { target }) =>
      target.startsWith("/mapi") ? new Response(null, { status: 403 }) : s3Error(403, "InvalidAccessKeyId", "no")
    );
    const guess = async (n: number) => {
      const path = n % 2 ? "/api/v1/mapi/tenants/archive/namespaces" : "/api/v1/buckets";
      return statusOf(fetch(origin + path, { headers: { ...await bearer(`user${n}`), ...from("10.0.0.1") } }));
    };
    for (let n = 0; n < MAX_WRONG_PER_ADDRESS; n++) assert.equal(await guess(n), n % 2 ? 403 : 401);
    assert.equal(await guess(98), 429);
    assert.equal(await guess(99), 429);
    // After each 403 of MAPI, S3 was asked whether the password is wrong.
    assert.equal(seen.length, MAX_WRONG_PER_ADDRESS * 1.5);
  }));

gatewayTest(
  "guessing: MAPI's 403 is a missing right of whoever was accepted before, and a HEAD's 403 says nothing",
  async ({ origin, call, answer }) => {
    answer(() => new Response(null, { status: 403 }));
    for (let n = 0; n < 2 * MAX_WRONG_PER_ACCOUNT; n++) {
      assert.equal(await statusOf(call("/api/v1/mapi/tenants/archive/namespaces")), 403);
      assert.equal(
        await statusOf(fetch(`${origin}${O}k`, { method: "HEAD", headers: await bearer("other", `p${n}`) })),
        403,
      );
    }
  },
);

Deno.test("guessing: MAPI's 403 is no wrong password where S3 accepts the caller, or MAPI at the system level", async () => {
  for (const [tenant, proof] of [["archive", "/"], [null, "/mapi/tenants?count=1"]] as const) {
    await withGateway({ proven: false }, async ({ origin, answer, seen }) => {
      answer((_request, { target }) => target === proof ? new Response("{}") : new Response(null, { status: 403 }));
      const headers = await bearer("curator", "p4ssw0rd", tenant);
      const path = `${origin}/api/v1/mapi/tenants/archive/userAccounts/eva`;
      const refused = (method: string) => statusOf(fetch(path, { method, headers }));
      assert.deepEqual(await Promise.all(["GET", "HEAD", "DELETE"].map(refused)), [403, 403, 403]);
      for (let n = 0; n < 2 * MAX_WRONG_PER_ACCOUNT; n++) assert.equal(await refused(n % 2 ? "GET" : "DELETE"), 403);
      assert.equal(seen.filter(({ target }) => target === proof).length, 1, "one proof for all");
    });
  }
});

gatewayTest(
  "guessing: MAPI's 403 is no wrong password of credentials that the store accepts meanwhile",
  async ({ call, answer, seen }) => {
    const users = Array.from({ length: MAX_WRONG_PER_ADDRESS + 1 }, (_, n) => `user${n}`);
    for (const user of users) {
      const headers = await bearer(user);
      const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
      const { promise: accepted, resolve: accept } = Promise.withResolvers<void>();
      answer(async (_request, { target }) => {
        if (!target.startsWith("/mapi")) return new Response(null, { headers: { ETag: '"e"' } });
        arrive();
        await accepted;
        return new Response(null, { status: 403 });
      });
      const denied = statusOf(call("/api/v1/mapi/tenants/archive/namespaces", { headers }));
      await arrived;
      assert.equal(await statusOf(call(`${O}k`, { headers })), 200);
      accept();
      assert.equal(await denied, 403);
    }
    assert.equal(seen.length, 2 * users.length);
  },
  { proven: false },
);

Deno.test("guessing: refusals of the users file count, and those whom it knows need no other proof", async () => {
  const keys = { accessKey: "A", secretKey: "S" };
  const check = (_name: string, password: string) => Promise.resolve(password === "right");
  const options = {
    proven: false,
    identify: sharedKeyIdentities(keys, check, "native"),
    gateway: { sharedKeys: keys, backend: "generic" as const },
  };
  await withGateway(options, async ({ origin, answer, seen }) => {
    answer(() => new Response(null, { headers: { ETag: '"e"' } }));
    const put = async (password: string) =>
      statusOf(fetch(`${origin}${O}k`, { method: "PUT", body: "x", headers: await bearer("anna", password, null) }));
    assert.equal(await put("right"), 200);
    for (let n = 0; n < MAX_WRONG_PER_ACCOUNT; n++) assert.equal(await put(`wrong${n}`), 401);
    assert.equal(await put("wrong"), 429);
    assert.equal(await put("right"), 200, "known to be right");
    assert.deepEqual(seen.map(({ method }) => method), ["PUT", "PUT"]);
  });
});

Deno.test("logins: bodies that never come fill the places of their address alone", () =>
  withGateway({ app: { trustedHops: 1, maxRequests: 2 } }, async ({ origin, call, answer }) => {
    answer(judging);
    const slow = (address: string) =>
      slowClient(origin, head("POST", "/api/v1/auth/token", { "Content-Length": "100", ...from(address) }) + "x");
    const clients = Array.from({ length: 3 * MAX_LOGINS_PER_ADDRESS }, () => slow("2001:db8:0:1::1"));
    const refused = clients.map(({ status }) => status);
    let done = 0;
    await new Promise<void>((resolve) =>
      refused.forEach((status) =>
        status.then((status) => {
          assert.equal(status, 503);
          if (++done === 2 * MAX_LOGINS_PER_ADDRESS) resolve();
        })
      )
    );
    const login = (address: string) =>
      fetch(`${origin}/api/v1/auth/token`, {
        method: "POST",
        headers: from(address),
        body: new URLSearchParams({ username: "archive/curator", password: "p4ssw0rd" }),
      });
    const full = await login("2001:db8:0:1:ffff::9");
    assert.deepEqual([full.status, full.headers.get("retry-after")], [503, "1"], "the same /64");
    await full.body?.cancel();
    assert.equal(await statusOf(login("2001:db8:0:2::1")), 200);
    assert.equal(await statusOf(call(`${O}k`)), 200);
    clients.forEach((client) => client[Symbol.dispose]());
  }));
