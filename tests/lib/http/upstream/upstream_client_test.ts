import assert from "node:assert/strict";
import { upstreamClient, UpstreamError } from "@/lib/http/upstream.ts";
import { StreamOfLength } from "@/lib/runtime/http.ts";
import { TEST_CA, TEST_CERTIFICATE, TEST_KEY } from "@/tests/lib/http/certificates.ts";

type Handler = (request: Request) => Response | Promise<Response>;

async function withServer(secure: boolean, handler: Handler, body: (origin: string) => Promise<void>) {
  const options = { port: 0, hostname: "127.0.0.1", onListen() {} };
  const server = secure
    ? Deno.serve({ ...options, cert: TEST_CERTIFICATE, key: TEST_KEY }, handler)
    : Deno.serve(options, handler);
  try {
    await body(`http${secure ? "s" : ""}://127.0.0.1:${server.addr.port}`);
  } finally {
    await server.shutdown();
  }
}

const problem = (expected: string) => (error: unknown) => {
  assert.ok(error instanceof UpstreamError);
  assert.equal(error.problem, expected);
  return true;
};

Deno.test("upstream client: rejects an unknown authority, trusts a configured one, and can skip verification", () =>
  withServer(true, (request) => new Response(new URL(request.url).pathname), async (origin) => {
    const get = async (options: { caCerts?: string[]; verifyTls: boolean }, target: string) => {
      const client = upstreamClient({ ...options, timeoutMs: 5000 });
      return await (await client.send({ method: "GET", origin, target, headers: {} })).text();
    };
    for (const target of ["/a", "/a/../b"]) {
      await assert.rejects(get({ verifyTls: true }, target), problem("unreachable"));
      await get({ verifyTls: true, caCerts: [TEST_CA] }, target);
      await get({ verifyTls: false }, target);
    }
    assert.equal(await get({ verifyTls: true, caCerts: [TEST_CA] }, "/a"), "/a");
  }));

for (const [name, target] of [["fetch", "/a"], ["node:http", "/a/../b"]]) {
  Deno.test(`upstream client by ${name}: a request carries the traceparent of its span, which ends with what became of it`, async () => {
    const seen: (string | null)[] = [];
    const handler: Handler = ({ headers }) => {
      seen.push(headers.get("traceparent"));
      return new Response(null, { status: 404 });
    };
    const traceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const ended: unknown[] = [];
    await withServer(false, handler, async (origin) => {
      const client = upstreamClient({
        verifyTls: true,
        timeoutMs: 5000,
        trace: (operation) => ({ traceParent, ended: (result) => ended.push(operation, result) }),
      });
      const untraced = upstreamClient({ verifyTls: true, timeoutMs: 5000, trace: () => null });
      for (const one of [client, untraced]) {
        await (await one.send({ method: "GET", origin, target, headers: {}, operation: "GetObject" }))
          .text();
      }
    });
    assert.deepEqual(seen, [traceParent, null]);
    assert.deepEqual(ended, ["GetObject", 404]);
  });
}

for (const [name, target] of [["fetch", "/a"], ["node:http", "/a/../b"]]) {
  Deno.test(`upstream client by ${name}: sends text and streams with their length, leaves the target as it is, follows no redirect`, async () => {
    const seen: Record<"url" | "body" | "length" | "encoding" | "coding", string | null>[] = [];
    const handler: Handler = async (request) => {
      const { headers, url } = request;
      seen.push({
        url: url.slice(url.indexOf("/", 7)),
        length: headers.get("content-length"),
        encoding: headers.get("accept-encoding"),
        coding: headers.get("transfer-encoding"),
        body: await request.text(),
      });
      return new Response("elsewhere", { status: 302, headers: { Location: "/other", "X-A": "1" } });
    };
    await withServer(false, handler, async (origin) => {
      const client = upstreamClient({ verifyTls: true, timeoutMs: 5000 });
      const response = await client.send({
        method: "POST",
        origin,
        target: `${target}?q=%2e`,
        headers: {},
        body: "text",
      });
      assert.equal(response.status, 302);
      assert.equal(response.headers.get("x-a"), "1");
      assert.equal(await response.text(), "elsewhere");
      const head = await client.send({ method: "HEAD", origin, target, headers: {} });
      assert.equal(await head.text(), "");
      const stream = new StreamOfLength(new Blob(["a stream"]).stream(), 8);
      const answer = await client.send({
        method: "PUT",
        origin,
        target,
        headers: { "content-length": "8" },
        body: stream,
      });
      await answer.body?.cancel();
      assert.deepEqual(
        seen.map(({ url, body }) => [url, body]),
        [[`${target}?q=%2e`, "text"], [target, ""], [target, "a stream"]],
      );
      assert.deepEqual([seen[2].length, seen[2].coding], ["8", null]);
      assert.equal(seen[0].length, "4");
      assert.equal(seen[0].encoding, "identity");
    });
  });

  Deno.test(`upstream client by ${name}: reads a large body whole, and ends the connection when its reader cancels`, async () => {
    const size = 3_000_000;
    const cancelled = Promise.withResolvers<void>();
    const handler: Handler = ({ url }) => {
      if (!url.includes("endless")) return new Response(new Uint8Array(size).fill(7));
      return new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
          cancel: () => cancelled.resolve(),
        }),
      );
    };
    await withServer(false, handler, async (origin) => {
      const client = upstreamClient({ verifyTls: true, timeoutMs: 5000 });
      const whole = await client.send({ method: "GET", origin, target, headers: {} });
      const bytes = await whole.bytes();
      assert.equal(bytes.length, size);
      assert.ok(bytes.every((byte) => byte === 7));
      const endless = await client.send({ method: "GET", origin, target: `${target}?endless`, headers: {} });
      const reader = endless.body?.getReader();
      assert.ok((await reader?.read())?.value);
      await reader?.cancel();
      await cancelled.promise;
    });
  });

  Deno.test(`upstream client by ${name}: late headers time out, a signal aborts, a closed port is unreachable`, async () => {
    const release = Promise.withResolvers<void>();
    const arrived: (() => void)[] = [];
    const handler: Handler = async () => {
      arrived.shift()?.();
      await release.promise;
      return new Response();
    };
    let gone = "";
    await withServer(false, handler, async (origin) => {
      gone = origin;
      const client = upstreamClient({ verifyTls: true, timeoutMs: 5000 });
      const request = { method: "GET", origin, target };
      await assert.rejects(client.send({ ...request, headers: {}, timeoutMs: 20 }), problem("timeout"));
      const leaving = new AbortController();
      arrived.push(() => leaving.abort());
      await assert.rejects(
        client.send({ ...request, headers: {}, signal: leaving.signal }),
        problem("aborted"),
      );
      await assert.rejects(
        client.send({ ...request, headers: {}, signal: AbortSignal.abort() }),
        problem("aborted"),
      );
      release.resolve();
    });
    const client = upstreamClient({ verifyTls: true, timeoutMs: 5000 });
    await assert.rejects(
      client.send({ method: "GET", origin: gone, target, headers: {} }),
      problem("unreachable"),
    );
  });
}

Deno.test("upstream client by node:http: writes each chunk of a stream before it reads the next", async () => {
  const memory = new Uint8Array(256 * 1024);
  const chunks = 40;
  let given = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      if (given === chunks) return controller.close();
      // The same memory each time: a late reader of it would find other bytes.
      controller.enqueue(memory.fill(++given));
    },
  }, { highWaterMark: 0 });
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    let at = 0;
    let wrong = 0;
    for await (const part of request.body ?? []) {
      for (const byte of part) if (byte !== Math.floor(at++ / memory.length) + 1) wrong++;
    }
    return Response.json({ at, wrong });
  });
  const client = upstreamClient({ verifyTls: true, timeoutMs: 20_000 });
  const answer = await client.send({
    method: "PUT",
    origin: `http://127.0.0.1:${server.addr.port}`,
    target: "/sink",
    headers: { "content-length": String(chunks * memory.length) },
    body,
    reusesMemory: true,
  });
  assert.deepEqual(await answer.json(), { at: chunks * memory.length, wrong: 0 });
  await server.shutdown();
});

/** Records what is sent on each connection, and passes it to a test. */
function rawServer(taken: (text: string, connection: Deno.TcpConn) => Promise<void> | void) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const texts: string[] = [];
  const read = async (connection: Deno.TcpConn, place: number) => {
    const memory = new Uint8Array(4096);
    try {
      for (let length; (length = await connection.read(memory)) !== null;) {
        const text = new TextDecoder().decode(memory.subarray(0, length));
        texts[place] += text;
        await taken(text, connection);
      }
      connection.close();
    } catch {
      // Closed by the test, or by the other side.
    }
  };
  const accepting = (async () => {
    for await (const connection of listener) read(connection, texts.push("") - 1);
  })();
  return {
    texts,
    origin: `http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`,
    async stop() {
      listener.close();
      await accepting;
    },
  };
}

const answered = (connection: Deno.TcpConn, status: string) =>
  connection.write(new TextEncoder().encode(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`)).then(() => {});

Deno.test("upstream client by node:http: sends no length without a body, so that the next request is its own", async () => {
  const seen: (string | null)[][] = [];
  await withServer(false, ({ method, headers }) => {
    seen.push([method, headers.get("content-length"), headers.get("transfer-encoding")]);
    return new Response("x");
  }, async (origin) => {
    const client = upstreamClient({ verifyTls: true, timeoutMs: 5000 });
    for (const [name, value] of [["Content-Length", "50"], ["transfer-encoding", "chunked"]]) {
      const response = await client.send({ method: "GET", origin, target: "/a/../b", headers: { [name]: value } });
      assert.equal(await response.text(), "x");
    }
  });
  assert.deepEqual(seen, Array(2).fill(["GET", null, null]));
});

Deno.test("upstream client by node:http: fails when a body ends before its length", async () => {
  const server = rawServer(() => {});
  const client = upstreamClient({ verifyTls: true, timeoutMs: 5000 });
  const headers = { "content-length": "1000" };
  const body = new Blob(["short"]).stream();
  const request = { method: "PUT", origin: server.origin, target: "/a", headers, body, reusesMemory: true };
  await assert.rejects(client.send(request), problem("broken"));
  await server.stop();
});

Deno.test("upstream client by node:http: cancels the body when the response comes before all of it is sent", async () => {
  const server = rawServer((text, connection) => {
    if (text.includes("HTTP/1.1")) return answered(connection, "403 Forbidden");
  });
  const cancelled = Promise.withResolvers<void>();
  const endless = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: () => new Promise(() => {}),
    cancel: () => cancelled.resolve(),
  }, { highWaterMark: 0 });
  const client = upstreamClient({ verifyTls: true, timeoutMs: 5000 });
  const headers = { "content-length": "1000" };
  const request = { method: "PUT", origin: server.origin, target: "/a", headers, body: endless, reusesMemory: true };
  const response = await client.send(request);
  assert.equal(response.status, 403);
  await response.text();
  await cancelled.promise;
  await server.stop();
});

for (const fate of ["was broken off", "was aborted"] as const) {
  for (const kind of ["text", "stream"] as const) {
    if (kind === "text" && fate === "was broken off") continue;
    Deno.test(`upstream client by node:http: does not send a ${kind} again that ${fate}`, async () => {
      const leaving = new AbortController();
      const server = rawServer((text, connection) => {
        if (text.includes("/warm")) return answered(connection, "200 OK");
        if (!text.includes("body")) return;
        if (fate === "was broken off") connection.close();
        else leaving.abort();
      });
      const client = upstreamClient({ verifyTls: true, timeoutMs: 5000 });
      const put = (target: string, text: string, signal?: AbortSignal) => {
        const bytes = new TextEncoder().encode(text);
        // More is announced than comes, so that the request is still under way when it ends.
        const length = kind === "stream" && target !== "/./warm" ? bytes.length + 1 : bytes.length;
        const headers = { "content-length": String(length) };
        const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
          start(controller) {
            controller.enqueue(bytes);
            if (length === bytes.length) controller.close();
          },
        });
        const body = kind === "stream" ? stream : text;
        return client.send({ method: "PUT", origin: server.origin, target, headers, body, signal, reusesMemory: true });
      };
      // Twice, so that a connection that may be used again is there.
      for (let n = 0; n < 2; n++) await (await put("/./warm", "x")).text();
      const why = fate === "was aborted" ? "aborted" : "broken";
      await assert.rejects(put("/lost", "body", leaving.signal), problem(why));
      await (await put("/./warm", "x")).text();
      const sent = server.texts.join("").split("PUT /lost").length - 1;
      assert.equal(sent, 1);
      await server.stop();
    });
  }
}
