import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { STREAM_BOUNDS } from "@/lib/std/body_reader.ts";
import { withGateway } from "./gateway_fixture.ts";
import { rawStore } from "./raw_store.ts";

const O = "/api/v1/buckets/b/objects/";
const SIGNED = "https://store.example.org/b/k?X-Amz-Credential=AKIA%2Fs3&X-Amz-Signature=0123456789abcdef&x=1";

/** What of the gateway asks the store for XML, for bytes, and for nothing but a status; by fetch and by node:http. */
const READS = [["GET", "/api/v1/buckets"], ["GET", "/api/v1/buckets/b/objects"]] as const;
const ALL = [
  ...READS,
  ["GET", `${O}k`],
  ["HEAD", `${O}k`],
  ["DELETE", `${O}k`],
  ["PUT", `${O}k`],
  ["POST", "/api/v1/buckets"],
] as const;

function init(method: string, path: string): RequestInit {
  if (method === "POST") return { method, body: JSON.stringify({ bucket: "b" }) };
  return { method, body: method === "PUT" && path.startsWith(O) ? "x" : undefined };
}

/** How long a store is waited for that stays silent. */
const SILENCE_MS = 300;

async function eachAnswer(
  speak: (socket: Socket) => void,
  requests: readonly (readonly [string, string])[],
  check: (status: number, text: string, what: string) => void,
  timeoutMs = 10_000,
) {
  await using store = await rawStore(speak);
  const bodyBounds = { ...STREAM_BOUNDS, slackMs: timeoutMs };
  const gateway = { addresses: store.addresses, s3TimeoutMs: timeoutMs, bodyBounds };
  await withGateway({ gateway }, async ({ call, logged }) => {
    for (const [method, path] of requests) {
      const response = await call(path, init(method, path));
      check(response.status, await response.text(), `${method} ${path}`);
    }
    assert.equal((await call("/healthz")).status, 200);
    assert.ok(logged().every(({ level }) => level === "info"), "a hostile store is no fault of ours");
  });
}

Deno.test("hostile store: bytes that are no HTTP are 502", async () => {
  for (
    const bytes of [
      "\x16\x03\x01\x02\x00garbage\r\n\r\n",
      "HTTP/9.9 wat\r\n\r\n",
      "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
    ]
  ) {
    await eachAnswer((socket) => socket.end(bytes), ALL, (status, text, what) => {
      assert.equal(status, 502, what);
      if (!what.startsWith("HEAD")) {
        assert.deepEqual(JSON.parse(text), { detail: "S3 connection error", code: "store_broken" });
      }
    });
  }
});

Deno.test("hostile store: a connection that ends at once is 502, silence before the headers 504", async () => {
  await eachAnswer((socket) => socket.end(), ALL, (status, _text, what) => assert.equal(status, 502, what));
  await eachAnswer(() => {}, ALL, (status, text, what) => {
    assert.equal(status, 504, what);
    if (!what.startsWith("HEAD")) {
      assert.deepEqual(JSON.parse(text), { detail: "S3 read timed out", code: "store_timeout" });
    }
  }, SILENCE_MS);
});

Deno.test("hostile store: floods of headers are 502", async () => {
  const many = Array.from({ length: 5000 }, (_, n) => `x-${n}: ${"v".repeat(50)}\r\n`).join("");
  for (const headers of [many, `x: ${"v".repeat(5_000_000)}\r\n`]) {
    const requests = [...ALL, ["GET", `${O}a/..%2Fk`]] as const;
    await eachAnswer((socket) => socket.end(`HTTP/1.1 200 OK\r\n${headers}\r\n`), requests, (status, _text, what) => {
      assert.equal(status, 502, what);
    });
  }
});

Deno.test("hostile store: redirects and statuses that no object has are 502", async () => {
  for (const status of ["301 Moved", "307 Temporary", "600 What", "299 Odd", "204 No Content", "205 Reset"]) {
    const answer = `HTTP/1.1 ${status}\r\nLocation: ${SIGNED}\r\nContent-Length: 0\r\n\r\n`;
    await eachAnswer((socket) => socket.end(answer), [["GET", `${O}k`]], (code, text) => {
      assert.equal(code, 502, status);
      assert.ok(!text.includes("Signature"), text);
    });
  }
});

Deno.test("hostile store: an error of 100 MB is read no further than needed, and its connection is closed", async () => {
  let sent = 0;
  const total = 100 * 1024 * 1024;
  const flood = (socket: Socket) => {
    socket.write(`HTTP/1.1 500 Oops\r\nContent-Length: ${total}\r\n\r\n<Error><Message>`);
    const piece = "m".repeat(64 * 1024);
    const more = () => {
      while (sent < total && !socket.destroyed) {
        sent += piece.length;
        if (!socket.write(piece)) return void socket.once("drain", more);
      }
    };
    more();
  };
  await eachAnswer(flood, [["GET", `${O}k`]], (status, text) => {
    assert.equal(status, 500);
    assert.ok(text.length < 1000, text);
  });
  assert.ok(sent < total / 2, `${sent} bytes were taken`);
});

Deno.test("hostile store: no error text carries a signed address, a credential or a line break", async () => {
  const messages = [
    `Expired: ${SIGNED}`,
    `see X-Amz-Signature=0123456789abcdef`,
    "Authorization: AWS4-HMAC-SHA256 Credential=AKIA/2026, Signature=0123456789abcdef",
    "HCP Y3VyYXRvcg==:0123456789abcdef0123456789abcdef",
    "two\r\nlines Signature 0123456789abcdef https://h/?X-Amz-Signature=0123456789abcdef",
  ];
  for (const message of messages) {
    const body = `<Error><Code>Odd</Code><Message>${message.replaceAll("&", "&amp;")}</Message></Error>`;
    const answer = `HTTP/1.1 400 Bad\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    await eachAnswer((socket) => socket.end(answer), [["GET", `${O}k`], ["PUT", `${O}k`]], (status, text) => {
      assert.equal(status, 400);
      assert.ok(!/X-Amz-Signature=0|Credential=AKIA|https?:|[\r\n]|:0123456789abcdef/.test(text), text);
    });
  }
});

Deno.test("hostile store: an object that is cut in its middle is cut for the client, too", async () => {
  await using store = await rawStore((socket) =>
    socket.end("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + "x".repeat(70_000))
  );
  await withGateway({ gateway: { addresses: store.addresses } }, async ({ call }) => {
    for (const key of ["k", "a%2F..%2Fk"]) {
      const response = await call(O + key);
      assert.equal(response.headers.get("content-length"), "1000000");
      await assert.rejects(response.bytes());
    }
  });
});

Deno.test("hostile store: an answer before the upload has been read comes through, whatever is still to send", async () => {
  const body = "<Error><Code>AccessDenied</Code><Message>no</Message></Error>";
  const early = (socket: Socket) =>
    socket.write(`HTTP/1.1 403 No\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
  await eachAnswer(early, [["PUT", `${O}k`]], (status, text) => {
    assert.equal(status, 403);
    assert.deepEqual(JSON.parse(text), { detail: "object 'k': no" });
  });
});
