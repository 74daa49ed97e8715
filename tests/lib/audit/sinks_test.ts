import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { createSocket } from "node:dgram";
import { bucketSink } from "@/lib/audit/bucket_sink.ts";
import { FileSink } from "@/lib/audit/file_sink.ts";
import { ForwardQueue } from "@/lib/audit/forward_queue.ts";
import { syslogMessage, syslogSink } from "@/lib/audit/syslog_sink.ts";
import { upstreamClient } from "@/lib/http/upstream/upstream_client.ts";
import { ManualClock } from "@/tests/manual_clock.ts";
import { event, eventually, NOON, sealer, withoutBlockingCalls } from "./audit_fixture.ts";
import { readFrames } from "./syslog_frames.ts";

const HOSTILE = "two\nlines <34>1 \u2028\u202e\u0085 ÅÄÖ 😀\u0000";
const hostile = event({ target: { kind: "object", bucket: "letters", key: HOSTILE } });

Deno.test("file sink: a file that was renamed is created anew, and what is in it stays", async () => {
  const folder = Deno.makeTempDirSync();
  const path = `${folder}/audit.jsonl`;
  const sink = new FileSink(path);
  const seal = sealer("00000000");
  await sink.append([seal(hostile), seal(event())]);
  Deno.renameSync(path, `${path}.1`);
  await sink.append([seal(event())]);
  await sink.close();
  await new FileSink(path).append([seal(event())]);
  const ids = (path: string) =>
    Deno.readTextFileSync(path).trimEnd().split("\n").map((line) => JSON.parse(line).id.slice("00000000.".length));
  assert.deepEqual([ids(`${path}.1`), ids(path)], [["1", "2"], ["3", "4"]]);
  assert.equal(JSON.parse(Deno.readTextFileSync(`${path}.1`).split("\n")[0]).target.key, HOSTILE);
  assert.equal(Deno.statSync(path).mode! & 0o777, 0o600);
  Deno.removeSync(folder, { recursive: true });
});

Deno.test("file sink: no call blocks the process, neither for a new file nor for a record", async () => {
  const folder = Deno.makeTempDirSync();
  const sink = new FileSink(`${folder}/audit.jsonl`);
  const seal = sealer("00000000");
  {
    using _ = withoutBlockingCalls();
    await sink.append([seal(event())]);
    await sink.append([seal(event())]);
    await sink.close();
  }
  Deno.removeSync(folder, { recursive: true });
});

Deno.test("file sink: a record does not follow half a line that a loss of power left", async () => {
  const folder = Deno.makeTempDirSync();
  const path = `${folder}/audit.jsonl`;
  Deno.writeTextFileSync(path, '{"v":1,"id":"00000');
  const sink = new FileSink(path);
  await sink.append([sealer("00000000")(event())]);
  await sink.close();
  const lines = Deno.readTextFileSync(path).trimEnd().split("\n");
  assert.equal(lines.length, 2);
  assert.equal(JSON.parse(lines[1]).id, "00000000.1");
  Deno.removeSync(folder, { recursive: true });
});

Deno.test("file sink: a disk without room is an error, and the record can be passed again", async () => {
  const sink = new FileSink("/dev/full");
  const record = sealer("00000000")(event());
  await assert.rejects(sink.append([record]), /No space left/);
  await assert.rejects(sink.append([record]), /No space left/);
  await sink.close();
});

Deno.test("syslog: a message is one of RFC 5424 whatever a key holds", () => {
  const message = Buffer.from(syslogMessage(sealer("00000000")(hostile))).toString("utf8");
  assert.match(
    message,
    /^<109>1 2026-11-20T12:00:00\.000Z - stackroom \d+ object_write - \ufeff\{[^\n\u2028\u202e\u0085]*\}$/,
  );
  const refused = sealer("00000000")(event({ action: "bucket_delete", result: "refused", status: 403 }));
  assert.match(Buffer.from(syslogMessage(refused)).toString(), /^<108>1 .* bucket_delete - /);
});

Deno.test("syslog: over UDP, a datagram for each record", async () => {
  const received: string[] = [];
  const server = createSocket("udp4", (message) => void received.push(message.toString()));
  await new Promise<void>((resolve) => server.bind(0, "127.0.0.1", resolve));
  const { port } = server.address();
  const sink = syslogSink({ address: { protocol: "udp", host: "127.0.0.1", port }, warn: assert.fail });
  const seal = sealer("00000000");
  for (let n = 0; n < 5; n++) sink.offer(seal(event()));
  await eventually(() => received.length === 5);
  assert.deepEqual(
    received.map((text) => JSON.parse(text.slice(text.indexOf("{"))).id),
    [1, 2, 3, 4, 5].map((n) => `00000000.${n}`),
  );
  await sink.close(60_000);
  server.close();
});

Deno.test("syslog: the longest record that a client can cause fits into a datagram, and is whole", async () => {
  const received: string[] = [];
  const server = createSocket("udp4", (message) => void received.push(message.toString()));
  await new Promise<void>((resolve) => server.bind(0, "127.0.0.1", resolve));
  const { port } = server.address();
  const sink = syslogSink({ address: { protocol: "udp", host: "127.0.0.1", port }, warn: assert.fail });
  const key = "\u0001".repeat(1024);
  const target = { kind: "objects", bucket: key, prefix: key, version_id: key, name: key, key } as const;
  const listed = Array.from({ length: 1000 }, () => key);
  const actor = { name: key, tenant: key };
  sink.offer(
    sealer("00000000")(event({ tenant: key, actor, target, details: { keys: listed, settings: listed, count: 1000 } })),
  );
  await eventually(() => received.length === 1);
  const { details, target: { key: shown } } = JSON.parse(received[0].slice(received[0].indexOf("{")));
  assert.deepEqual([details.keys.length, details.settings.length, details.count], [20, 20, 1000]);
  assert.equal(shown, `${"\u0001".repeat(127)}…`);
  await sink.close(60_000);
  server.close();
});

Deno.test("syslog: over TCP, with lengths, and again where a server has left", async () => {
  const received: string[] = [];
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  const warnings: string[] = [];
  const sink = syslogSink({
    address: { protocol: "tcp", host: "127.0.0.1", port },
    warn: (line) => void warnings.push(line),
  });
  const seal = sealer("00000000");
  sink.offer(seal(hostile));
  sink.offer(seal(event()));
  const first = await listener.accept();
  await readFrames(first, received, 2);
  first.close();
  await eventually(() => sink.sent === 2);
  let second: Deno.Conn | undefined;
  void listener.accept().then((connection) => second = connection);
  // What is sent before the sink sees the end of its connection is lost by the protocol.
  await eventually(() => {
    if (!second) sink.offer(seal(event()));
    return second !== undefined;
  });
  await readFrames(second!, received, 3);
  second!.close();
  assert.ok(received.every((message) => /^<109>1 /.test(message)));
  listener.close();
  await sink.close(60_000);
});

Deno.test("forward queue: keeps the order, tries again, and drops what finds no room", async () => {
  const sent: number[] = [];
  const lines: string[] = [];
  let failures = 1;
  const queue = new ForwardQueue({
    name: "test",
    maxRecords: 5,
    maxCharacters: 1e6,
    batchRecords: 2,
    lingerMs: 0,
    send(records) {
      if (failures-- > 0) return Promise.reject(new Error("away"));
      sent.push(...records.map(({ number }) => number));
      return Promise.resolve();
    },
    warn: (line) => void lines.push(line),
  });
  const seal = sealer("00000000");
  for (let n = 0; n < 7; n++) queue.offer(seal(event()));
  assert.deepEqual([queue.lost, queue.waiting, queue.isFull], [2, 5, true]);
  await eventually(() => sent.length === 5);
  assert.deepEqual(sent, [1, 2, 3, 4, 5]);
  assert.equal(queue.isFailing, false);
  assert.match(lines[0], /records for test are dropped|cannot be sent to test \(away\)/);
  await queue.close(60_000);
});

Deno.test("forward queue: a close waits for what is on its way, and ends it where that takes too long", async () => {
  for (const isTaken of [true, false]) {
    using clock = new ManualClock();
    const { promise: taken, resolve: take } = Promise.withResolvers<void>();
    let isCut = false;
    const queue = new ForwardQueue({
      ...{ name: "test", maxRecords: 5, maxCharacters: 1e6, batchRecords: 1, lingerMs: 0, warn: assert.fail },
      send(_records, signal) {
        return new Promise((resolve, reject) => {
          signal.addEventListener("abort", () => {
            isCut = true;
            reject(new Error("it was ended"));
          });
          taken.then(resolve);
        });
      },
    });
    queue.offer(sealer("00000000")(event()));
    const closed = queue.close(1000);
    clock.advance(999);
    // Its turn of the event loop, in which it would be ended.
    await new Promise((resolve) => setTimeout(resolve));
    assert.equal(isCut, false);
    if (isTaken) take();
    else clock.advance(1);
    await closed;
    assert.deepEqual([queue.sent, queue.waiting], isTaken ? [1, 0] : [0, 1]);
  }
});

Deno.test("bucket sink: an object for a batch, signed, with its digest and its lock, and again under the same key", async () => {
  interface Put {
    readonly path: string;
    readonly headers: Headers;
    readonly body: string;
  }
  const puts: Put[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const path = new URL(request.url).pathname;
    puts.push({ path, headers: request.headers, body: await request.text() });
    return new Response(null, { status: puts.length === 1 ? 503 : 200 });
  });
  const endpoint = `http://127.0.0.1:${server.addr.port}`;
  const sink = bucketSink({
    s3: {
      addresses: { s3: () => Promise.resolve({ endpoint, publicEndpoint: endpoint }) },
      region: "us-east-1",
      upstream: upstreamClient({ verifyTls: true, timeoutMs: 10_000 }),
      now: () => NOON,
    },
    bucket: "trail",
    prefix: "audit/",
    keys: () => ({ accessKey: "writer", secretKey: "the-secret-of-the-writer" }),
    lock: { mode: "COMPLIANCE", days: 365 },
    lingerMs: 20,
    warn: () => {},
  });
  const seal = sealer("0123abcd");
  sink.offer(seal(hostile));
  sink.offer(seal(event()));
  await eventually(() => sink.sent === 2);
  await sink.close(60_000);
  await server.shutdown();
  assert.equal(puts.length, 2);
  assert.equal(puts[0].path, puts[1].path);
  const { path, headers, body } = puts[1];
  assert.equal(path, "/trail/audit/2026/11/20/20261120T120000000Z-0123abcd.1.jsonl");
  assert.match(headers.get("authorization") ?? "", /^AWS4-HMAC-SHA256 Credential=writer\/.*x-amz-object-lock-mode/);
  assert.equal(headers.get("content-md5"), createHash("md5").update(body).digest("base64"));
  assert.equal(headers.get("x-amz-object-lock-mode"), "COMPLIANCE");
  assert.equal(headers.get("x-amz-object-lock-retain-until-date"), "2027-11-20T12:00:00.000Z");
  assert.deepEqual(body.trimEnd().split("\n").map((line) => JSON.parse(line).id), ["0123abcd.1", "0123abcd.2"]);
  assert.doesNotMatch(JSON.stringify(puts), /the-secret-of-the-writer/);
});
