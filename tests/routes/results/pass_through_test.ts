import assert from "node:assert/strict";
import { createServer } from "node:net";
import { batchedLog } from "@/lib/http/app.ts";
import { MAX_POSTED_BYTES } from "@/lib/results/pass_through.ts";
import { rawRequest } from "./raw_request.ts";
import { bothWays, remoteService, resultsDeps, serve, STEM, web } from "./results_fixture.ts";

interface Seen {
  readonly method: string;
  readonly target: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** The web role before a results service that records what it is sent. */
async function withRecorder(
  answer: (request: Request) => Response | Promise<Response>,
  body: (site: { origin: string; port: number; seen: Seen[] }) => Promise<void>,
): Promise<void> {
  const seen: Seen[] = [];
  await using role = serve(async (request) => {
    const target = request.url.slice(request.url.indexOf("/", "http://".length));
    seen.push({ method: request.method, target, headers: new Headers(request.headers), body: await request.bytes() });
    return await answer(request);
  });
  await using site = web(remoteService(role.origin));
  await body({ origin: site.origin, port: site.port, seen });
}

const plain = () => new Response("ok");

Deno.test("pass-through: path and query arrive byte for byte", () =>
  withRecorder(plain, async ({ port, seen }) => {
    for (
      const target of [
        "/results/ns/%41%2541%c3%a5%C3%A5/a+b?x=%2F&y=../..&&z",
        `/results/ns/"quoted"/{a}|b^c\`d/'e'?q="'<>|{}^\``,
        "/results//ns//x",
        "/results/ns/...../..a/a..",
        "/results/ns/%2fx%5c",
      ]
    ) {
      seen.length = 0;
      const [status] = await rawRequest(port, "GET", target);
      assert.deepEqual([status, seen.map((request) => request.target)], [200, [target]]);
    }
  }));

Deno.test("pass-through: a method that is not passed is told which ones its path has", () =>
  withRecorder(plain, async ({ port, seen }) => {
    for (
      const [path, allow] of [
        ["/results/_login", "POST"],
        ["/results/_logout", "POST"],
        ["/results/_session", "GET, HEAD"],
        ["/results/ns/x", "GET, HEAD"],
      ]
    ) {
      for (const method of ["OPTIONS", "DELETE", "PUT"]) {
        const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
        await response.body?.cancel();
        assert.deepEqual([response.status, response.headers.get("Allow")], [405, allow], `${method} ${path}`);
      }
    }
    assert.deepEqual(seen, []);
  }));

Deno.test("pass-through: a path that something on its way could fold is 404 and goes nowhere", () =>
  withRecorder(plain, async ({ port, seen }) => {
    for (
      const path of [
        "/results/../healthz",
        "/results/ns/..",
        "/results/ns/./x",
        "/results/%2e%2e/healthz",
        "/results/.%2E/healthz",
        "/results/ns\\..\\x",
        "/result%73/x/y",
      ]
    ) {
      assert.equal((await rawRequest(port, "GET", path))[0], 404, path);
    }
    assert.equal(seen.length, 0);
  }));

Deno.test("pass-through: of the request's headers only those named go in, of its cookies only the session's", () =>
  withRecorder(plain, async ({ port, seen }) => {
    await rawRequest(port, "GET", "/results/ns/x", {
      "Host": "site.example:8443",
      "Cookie": [`a=1; ${STEM}=tok.en`, `__Host-${STEM}=other; b=2`],
      "Authorization": "Bearer secret",
      "Accept-Encoding": "gzip",
      "User-Agent": "test",
      "X-Api-Key": "secret",
      "Forwarded": "for=1.2.3.4",
      "Range": "bytes=0-1",
      "If-Range": '"e"',
      "If-None-Match": '"caf\xe9"',
      "If-Modified-Since": "yesterday",
      "If-Match": '"m"',
      "Origin": "http://caf\xe9.example",
      "X-Request-ID": "abc-1",
    });
    const sent = Object.fromEntries([...seen[0].headers].filter(([name]) => name !== "host"));
    assert.deepEqual(sent, {
      "accept": "*/*",
      "accept-encoding": "identity",
      "accept-language": sent["accept-language"],
      "cookie": `${STEM}=tok.en`,
      "if-modified-since": "yesterday",
      "if-none-match": '"caf\xe9"',
      "if-range": '"e"',
      "origin": "http://caf\xe9.example",
      "range": "bytes=0-1",
      "user-agent": sent["user-agent"],
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-host": "site.example:8443",
      "x-forwarded-proto": "http",
      "x-request-id": "abc-1",
    });
    assert.doesNotMatch(sent["user-agent"] ?? "", /test/);
  }));

Deno.test("pass-through: what proxies before us said stays, and the peer comes after it", () =>
  withRecorder(plain, async ({ port, seen }) => {
    await rawRequest(port, "GET", "/results/ns/x", {
      "X-Forwarded-For": ["6.6.6.6", "7.7.7.7"],
      "X-Forwarded-Proto": "https",
      "X-Forwarded-Host": "campaigns.example.org",
      "Cookie": `${STEM}=plain; __Host-${STEM}=secure`,
    });
    const { headers } = seen[0];
    assert.equal(headers.get("x-forwarded-for"), "6.6.6.6, 7.7.7.7, 127.0.0.1");
    assert.equal(headers.get("x-forwarded-proto"), "https");
    assert.equal(headers.get("x-forwarded-host"), "campaigns.example.org");
    assert.equal(headers.get("cookie"), `__Host-${STEM}=secure`);

    await rawRequest(port, "GET", "/results/ns/x", { "X-Forwarded-Proto": "https", "Cookie": `${STEM}=plain` });
    assert.equal(seen[1].headers.get("cookie"), null);
  }));

Deno.test("pass-through: a Host that is none is no failure of ours", () =>
  withRecorder(plain, async ({ port, seen }) => {
    for (const Host of ["a b", "localhost:99999"]) {
      const [status] = await rawRequest(port, "GET", "/results/ns/x", { Host });
      assert.deepEqual([status, seen.pop()?.headers.get("x-forwarded-host")], [200, Host]);
    }
  }));

Deno.test("pass-through: returns only the listed response headers, and several cookies stay several", async () => {
  const answer = () => {
    const headers = new Headers({
      "Content-Type": "application/json",
      "ETag": '"caf\xe9"',
      "Last-Modified": "then",
      "Cache-Control": "private",
      "Content-Security-Policy": "default-src 'none'; sandbox",
      "X-Content-Type-Options": "nosniff",
      "Content-Disposition": 'attachment; filename="\xe5.txt"',
      "Content-Encoding": "gzip",
      "WWW-Authenticate": "Basic",
      "Content-Range": "bytes 0-1/2",
      "Accept-Ranges": "bytes",
      "Retry-After": "7",
      "Location": "/login?error=401",
      "Server": "inner",
      "X-Powered-By": "inner",
      "Access-Control-Allow-Origin": "*",
      "Referrer-Policy": "unsafe-url",
    });
    headers.append("Set-Cookie", "a=1; Path=/");
    headers.append("Set-Cookie", "b=2; Expires=Wed, 01 Jan 2031 00:00:00 GMT");
    return new Response(new Uint8Array([0x1f, 0x8b, 0xff, 0]), { status: 206, headers });
  };
  await withRecorder(answer, async ({ origin, port }) => {
    const response = await fetch(`${origin}/results/ns/x`, { headers: { "Accept-Encoding": "identity" } });
    assert.equal(response.status, 206);
    assert.deepEqual(await response.bytes(), new Uint8Array([0x1f, 0x8b, 0xff, 0]));
    assert.deepEqual(response.headers.getSetCookie(), [
      "a=1; Path=/",
      "b=2; Expires=Wed, 01 Jan 2031 00:00:00 GMT",
    ]);
    for (const name of ["server", "x-powered-by", "access-control-allow-origin"]) {
      assert.equal(response.headers.get(name), null, name);
    }
    assert.equal(response.headers.get("etag"), '"caf\xe9"');
    assert.equal(response.headers.get("content-disposition"), 'attachment; filename="\xe5.txt"');
    // A role of another version may say nothing of frames.
    assert.equal(
      response.headers.get("content-security-policy"),
      "default-src 'none'; sandbox, frame-ancestors 'none'",
    );
    assert.equal(response.headers.get("referrer-policy"), "strict-origin-when-cross-origin");
    assert.equal(response.headers.get("content-length"), "4");
    assert.equal(response.headers.get("location"), "/login?error=401");
    for (const name of ["content-range", "accept-ranges", "retry-after", "www-authenticate", "content-encoding"]) {
      assert.ok(response.headers.get(name), name);
    }
    const [, raw] = await rawRequest(port, "HEAD", "/results/ns/x");
    assert.match(raw, /content-length: 4\r\n/i);
    assert.ok(raw.endsWith("\r\n\r\n"), "a HEAD has no body");
  });
});

Deno.test("pass-through: a redirect is not followed, and only one to a path of our own is shown", async () => {
  let location = "";
  const answer = () => new Response(null, { status: 303, headers: { Location: location } });
  await withRecorder(answer, async ({ origin, seen }) => {
    const shown = async (value: string) => {
      location = value;
      const response = await fetch(`${origin}/results/ns/x`, { redirect: "manual" });
      assert.equal(response.status, 303);
      await response.body?.cancel();
      return response.headers.get("location");
    };
    assert.equal(await shown("/log?a=b#c"), "/log?a=b#c");
    for (const foreign of ["//evil.example", "/\\evil.example", "https://evil.example/", "javascript:x", "x", ""]) {
      assert.equal(await shown(foreign), null, foreign);
    }
    assert.equal(seen.length, 7);
  });
});

Deno.test("pass-through: a posted body of 16 KiB arrives with its length, one byte more goes nowhere", () =>
  withRecorder(plain, async ({ origin, port, seen }) => {
    const post = (body: BodyInit) => fetch(`${origin}/results/_login`, { method: "POST", body });
    const bytes = crypto.getRandomValues(new Uint8Array(MAX_POSTED_BYTES));
    const streamed = (size: number) =>
      new ReadableStream({
        start(controller) {
          for (let sent = 0; sent < size; sent += 1000) controller.enqueue(new Uint8Array(Math.min(1000, size - sent)));
          controller.close();
        },
      });

    assert.equal((await post(bytes)).status, 200);
    assert.deepEqual(seen[0].body, bytes);
    assert.equal(seen[0].headers.get("content-length"), String(MAX_POSTED_BYTES));
    assert.equal((await post(streamed(MAX_POSTED_BYTES))).status, 200);
    assert.equal(seen[1].headers.get("content-length"), String(MAX_POSTED_BYTES));
    assert.equal((await rawRequest(port, "POST", "/results/_logout", { "Content-Length": "0" }))[0], 200);
    assert.equal(seen[2].body.length, 0);

    seen.length = 0;
    for (const body of [new Uint8Array(MAX_POSTED_BYTES + 1), streamed(MAX_POSTED_BYTES + 1)]) {
      const refused = await post(body);
      assert.deepEqual([refused.status, await refused.json()], [413, { detail: "body too large" }]);
    }
    assert.equal(seen.length, 0);
  }));

Deno.test("pass-through: a response that breaks off fails for the client, and the log names only the error's type", async () => {
  let framing = "Content-Length: 100000\r\n\r\nhalf of a secret";
  const role = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n${framing}`);
      socket.end();
    });
  });
  await new Promise<void>((resolve) => role.listen(0, "127.0.0.1", resolve));
  const address = role.address();
  assert.ok(address && typeof address === "object");
  let lines = "";
  const log = batchedLog((text) => lines += text);
  {
    await using site = web(remoteService(`http://127.0.0.1:${address.port}`), log);
    const response = await fetch(`${site.origin}/results/ns/x`, { headers: { "X-Request-ID": "r-1" } });
    assert.equal(response.status, 200);
    await assert.rejects(response.text());
    // Without a length only the way it ends tells a part from the whole.
    framing = "Transfer-Encoding: chunked\r\n\r\n10\r\nhalf of a secret\r\n";
    await assert.rejects((await fetch(`${site.origin}/results/ns/x`)).text());
    framing += "0\r\n\r\n";
    assert.equal(await (await fetch(`${site.origin}/results/ns/x`)).text(), "half of a secret");
  }
  role.close();
  log.flush();
  const [first] = lines.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
  assert.deepEqual({ ...first, ts: "" }, { ts: "", level: "warn", request_id: "r-1", broken_answer: "TypeError" });
  assert.doesNotMatch(lines, /secret/);
});

Deno.test("pass-through: a response that stalls is cut", async () => {
  const never = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode("begun"));
    },
  });
  const service = () => Promise.resolve(new Response(never, { headers: { "Content-Length": "100" } }));
  let lines = "";
  const log = batchedLog((text) => lines += text);
  await using site = web(service, log, 20);
  const response = await fetch(`${site.origin}/results/ns/x`);
  await assert.rejects(response.text());
  log.flush();
  assert.match(lines, /"broken_answer":"SlowBody"/);
});

Deno.test("pass-through: a client that disconnects cancels the upstream's response, and no failure is logged", async () => {
  const left = Promise.withResolvers<void>();
  const endless = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      controller.enqueue(new Uint8Array(65536));
    },
    cancel: () => left.resolve(),
  });
  let lines = "";
  const log = batchedLog((text) => lines += text);
  await using role = serve(() => new Response(endless));
  await using site = web(remoteService(role.origin), log);
  const response = await fetch(`${site.origin}/results/ns/x`);
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  await left.promise;
  log.flush();
  assert.equal(lines, "");
});

Deno.test("pass-through: a service that keeps its headers back is 502", async () => {
  const silence = Promise.withResolvers<void>();
  await using role = serve(() => silence.promise.then(() => new Response("")));
  await using site = web(remoteService(role.origin, 30));
  const response = await fetch(`${site.origin}/results/ns/x`);
  silence.resolve();
  const body = { detail: "the results service did not answer", code: "results_unavailable" };
  assert.deepEqual([response.status, await response.json()], [502, body]);
});

Deno.test("pass-through: cookies of one response are not sent with the next request", async () => {
  const answer = () => new Response("", { headers: { "Set-Cookie": `${STEM}=kept; Path=/` } });
  await withRecorder(answer, async ({ origin, seen }) => {
    await (await fetch(`${origin}/results/_session`)).text();
    await (await fetch(`${origin}/results/_session`)).text();
    assert.deepEqual(seen.map(({ headers }) => headers.get("cookie")), [null, null]);
  });
});

Deno.test("pass-through: an error has the same headers and body whether the role runs in this process or another", async () => {
  const seen: unknown[][] = [];
  for await (const { service } of bothWays(resultsDeps("http://127.0.0.1:9", { trustedHops: 1 }))) {
    await using site = web(service);
    const errors: unknown[] = [];
    for (const [method, path] of [["GET", "ns/x"], ["GET", "_login"], ["HEAD", "_session"], ["POST", "_login"]]) {
      const response = await fetch(`${site.origin}/results/${path}`, { method });
      const { "x-request-id": _id, date: _date, ...headers } = Object.fromEntries(response.headers);
      errors.push([response.status, headers, await response.text()]);
    }
    seen.push(errors);
  }
  assert.deepEqual(seen[0], seen[1]);
  assert.deepEqual(seen[0].map((error) => Array.isArray(error) && error[0]), [401, 405, 401, 403]);
});
