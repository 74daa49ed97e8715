import assert from "node:assert/strict";
import { UpstreamError } from "@/lib/http/upstream.ts";
import { trustProxies } from "@/lib/http/request_context.ts";
import { SESSION_CACHE_MS, sessionCheck } from "@/lib/results/session_check.ts";
import { sessionDigest } from "@/lib/auth/session_token.ts";
import type { ResultsService } from "@/lib/results/results_service.ts";

interface Asked {
  readonly target: string;
  readonly headers: Record<string, string>;
}

/** A check over a service that answers what the test says, with a clock that stands still. */
function checked(answer: (cookie: string) => Response | Promise<Response>) {
  const asked: Asked[] = [];
  const clock = { now: 1_000_000 };
  const service: ResultsService = async (request, { target, peer }) => {
    assert.equal(peer, null);
    asked.push({ target: target.path, headers: Object.fromEntries(request.headers) });
    return await answer(request.headers.get("Cookie") ?? "");
  };
  const { check, forget } = sessionCheck({ service, cookieStem: "s", now: () => clock.now, timeoutMs: 30 });
  const as = (cookie: string | null, headers: Record<string, string> = {}) => {
    const all = { ...headers, ...(cookie === null ? {} : { Cookie: cookie }) };
    const request = new Request("http://a.example/", { headers: all });
    trustProxies(request, 1);
    return check(request);
  };
  return { asked, clock, as, forget };
}

const yes = (cookie: string) => Response.json({ user: `user of ${cookie}` });
const no = () => Response.json({ detail: "not logged in" }, { status: 401 });

Deno.test("session check: sends the service only the session cookie under its plain name", async () => {
  const { as, asked } = checked(yes);
  const headers = { "X-Forwarded-Proto": "https", "X-Forwarded-For": "1.1.1.1", Authorization: "Bearer x" };
  assert.deepEqual(await as("s=plain; __Host-s=tok; other=1", headers), {
    user: "user of s=tok",
    digest: sessionDigest("tok"),
    cookie: "s=tok",
  });
  assert.deepEqual(asked, [
    { target: "/results/_session", headers: { "accept-encoding": "identity", cookie: "s=tok" } },
  ]);
});

Deno.test("session check: sends no request without a cookie that could be a session", async () => {
  const { as, asked } = checked(yes);
  for (const cookie of [null, "", "other=1", "s=", `s=${"x".repeat(4097)}`, "s=\xe5", "__Host-s=tok"]) {
    await assert.rejects(as(cookie), { status: 401, detail: "not logged in", headers: {} });
  }
  assert.equal(asked.length, 0);
});

Deno.test("session check: yes and no are believed for 30 seconds, for that cookie alone", async () => {
  const { as, asked, clock } = checked((cookie) => cookie === "s=good" ? yes(cookie) : no());
  for (let n = 0; n < 3; n++) {
    assert.equal((await as("s=good")).user, "user of s=good");
    await assert.rejects(as("s=bad"), { status: 401 });
    clock.now += SESSION_CACHE_MS / 3 - 1;
  }
  assert.equal(asked.length, 2);
  clock.now += 3;
  await as("s=good");
  await assert.rejects(as("s=bad"), { status: 401 });
  assert.equal(asked.length, 4);
});

Deno.test("session check: an invalid response is 502 and not cached", async () => {
  const answers: (() => Response | Promise<Response>)[] = [
    () => Promise.reject(new UpstreamError("unreachable")),
    () => Promise.reject(new UpstreamError("timeout")),
    () => new Promise<Response>(() => {}),
    () => new Response("", { status: 500 }),
    () => new Response("", { status: 403 }),
    () => new Response("", { status: 404 }),
    () => new Response(null, { status: 302, headers: { Location: "/" } }),
    () => new Response("<html>"),
    () => Response.json(null),
    () => Response.json([]),
    () => Response.json({ user: "" }),
    () => Response.json({ user: 7 }),
    () => new Response(`{"user":"${"x".repeat(20_000)}"}`),
    () => new Response(new ReadableStream({ start: (controller) => controller.error(new Error("cut")) })),
    () => new Response(new ReadableStream({})),
  ];
  let answer: () => Response | Promise<Response> = no;
  const { as, asked } = checked(() => answer());
  for (const [n, given] of answers.entries()) {
    answer = given;
    await assert.rejects(as("s=t"), { status: 502, detail: "the results service did not answer" }, String(n));
  }
  assert.equal(asked.length, answers.length);
  answer = () => yes("s=t");
  assert.equal((await as("s=t")).user, "user of s=t");
});

Deno.test("session check: concurrent requests of a cookie share a call, different cookies never do", async () => {
  const { as, asked } = checked(async (cookie) => {
    await Promise.resolve();
    return yes(cookie);
  });
  const names = ["a", "b", "a", "c", "b", "a"];
  const users = await Promise.all(names.map(async (name) => (await as(`s=${name}`)).user));
  assert.deepEqual(users, names.map((name) => `user of s=${name}`));
  assert.equal(asked.length, 3);
});

Deno.test("session check: caches 1,024 cookies and evicts the least recently used", async () => {
  const { as, asked } = checked(yes);
  await as("s=kept");
  for (let n = 0; n < 1023; n++) await as(`s=${n}`);
  await as("s=kept");
  await as("s=one-more");
  assert.equal(asked.length, 1025);
  await as("s=kept");
  assert.equal(asked.length, 1025);
  await as("s=0");
  assert.equal(asked.length, 1026);
});

Deno.test("session check: of several cookies the first that is a session counts, four are tried", async () => {
  const { as, asked } = checked((cookie) => /^s=good/.test(cookie) ? yes(cookie) : no());
  const session = await as("s=bad; s=good1; s=good2");
  assert.deepEqual([session.user, session.cookie], ["user of s=good1", "s=good1"]);
  assert.equal(session.digest, sessionDigest("good1"));
  assert.deepEqual(asked.map(({ headers }) => headers.cookie), ["s=bad", "s=good1"]);
  assert.equal((await as("s=bad; s=good2")).cookie, "s=good2");
  await assert.rejects(as("s=1; s=2; s=3; s=4; s=good1"), { status: 401 });
  assert.equal(asked.length, 7);
});

Deno.test("session check: where it is not known whether the first is a session, the second does not count", async () => {
  const { as } = checked((cookie) => cookie === "s=good" ? yes(cookie) : new Response("", { status: 503 }));
  await assert.rejects(as("s=unknown; s=good"), { status: 502 });
});

Deno.test("session check: a forgotten session is checked again, and its pending result is not cached", async () => {
  let answer: Promise<Response> = Promise.resolve(yes("s=a"));
  const { as, asked, forget } = checked(async () => (await answer).clone());
  await as("s=a");
  await as("s=b");
  forget(["a"]);
  await as("s=a");
  await as("s=b");
  assert.equal(asked.length, 3);

  const late = Promise.withResolvers<Response>();
  answer = late.promise;
  forget(["a"]);
  const before = as("s=a");
  forget(["a"]);
  answer = Promise.resolve(no());
  late.resolve(yes("s=a"));
  assert.equal((await before).user, "user of s=a");
  await assert.rejects(as("s=a"), { status: 401 });
});
