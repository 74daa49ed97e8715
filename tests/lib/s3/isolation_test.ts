import assert from "node:assert/strict";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { upstreamClient } from "@/lib/http/upstream.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import { BufferPool, UPLOAD_SIZES, type UploadSizes, writeObject } from "@/lib/s3/object_upload.ts";
import { TEST_CA, TEST_CERTIFICATE, TEST_KEY } from "@/tests/lib/http/certificates.ts";

const KIB = 1024;
const PART_BYTES = 512 * KIB;
const POOL_BYTES = 16 * PART_BYTES;
/** Not a whole number of parts. */
const BODY_BYTES = 2 * PART_BYTES + 40 * KIB;
const UPLOADS = 40;

/** What becomes of an upload, by its number. */
const FATES = ["whole", "client fails", "store refuses early", "client leaves", "store breaks off", "whole"] as const;
const fateOf = (upload: number) => FATES[upload % FATES.length];

for (const [name, secure] of [["plain", false], ["tls", true]] as const) {
  Deno.test(`uploads at once over ${name}: no byte of one is in another, whichever are cut in between`, async () => {
    const store = new CheckingStore(secure);
    const sizes: UploadSizes = {
      ...UPLOAD_SIZES,
      firstBytes: 64 * KIB,
      partBytes: () => PART_BYTES,
      pool: new BufferPool({
        bufferBytes: 64 * KIB,
        totalBytes: POOL_BYTES,
        cachedBytes: 4 * PART_BYTES,
        waitMs: 30_000,
      }),
    };
    const s3: S3 = {
      addresses: { s3: () => Promise.resolve({ endpoint: store.origin, publicEndpoint: store.origin }) },
      region: "us-east-1",
      upstream: upstreamClient({ verifyTls: true, caCerts: [TEST_CA], timeoutMs: 20_000 }),
      now: Date.now,
    };
    await Promise.all(Array.from({ length: UPLOADS }, async (_, number) => {
      const leaving = new AbortController();
      const upload = { body: body(number, leaving), lengthBytes: null, headers: {}, sizes };
      const writing = writeObject(s3, caller(leaving.signal), { bucket: "b", key: String(number) }, upload);
      if (fateOf(number) === "whole") await writing;
      else await assert.rejects(writing);
    }));
    await store.stop();
    assert.deepEqual(store.wrong, []);
    for (let number = 0; number < UPLOADS; number++) {
      assert.equal(store.completedBytes.get(String(number)), fateOf(number) === "whole" ? BODY_BYTES : undefined);
    }
    assert.equal(sizes.pool.freeBytes, POOL_BYTES, "memory was not released");
  });
}

/** Four bytes of an upload's body say whose they are and where they stand. */
function wordAt(upload: number, byte: number): number {
  return upload * 0x1000000 + byte / 4;
}

function body(upload: number, leaving: AbortController): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream({
    type: "bytes",
    autoAllocateChunkSize: 16 * KIB,
    pull(controller) {
      const request = controller.byobRequest;
      const view = request?.view;
      if (!request || !view) return;
      if (at >= BODY_BYTES) {
        controller.close();
        return request.respond(0);
      }
      if (at >= 1.7 * PART_BYTES && fateOf(upload) === "client fails") return controller.error(new Error("cut"));
      if (at >= 1.7 * PART_BYTES && fateOf(upload) === "client leaves") leaving.abort();
      const length = Math.min(view.byteLength, BODY_BYTES - at);
      const data = new DataView(view.buffer, view.byteOffset, length);
      for (let i = 0; i < length; i += 4) data.setUint32(i, wordAt(upload, at + i));
      at += length;
      request.respond(length);
    },
  });
}

function caller(signal: AbortSignal): Caller {
  return {
    username: "u",
    tenant: "t",
    s3: { accessKey: "a", secretKey: "s" },
    mapiAuthorization: null,
    named: true,
    signal,
  };
}

/** Takes parts, and looks at each word of them. */
class CheckingStore {
  readonly wrong: string[] = [];
  readonly completedBytes = new Map<string, number>();
  readonly #received = new Map<string, number>();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #secure: boolean;

  constructor(secure: boolean) {
    this.#secure = secure;
    const options = {
      hostname: "127.0.0.1",
      port: 0,
      onListen() {},
      onError: () => new Response(null, { status: 500 }),
    };
    this.#server = secure
      ? Deno.serve({ ...options, cert: TEST_CERTIFICATE, key: TEST_KEY }, (request) => this.#answer(request))
      : Deno.serve(options, (request) => this.#answer(request));
  }

  get origin(): string {
    return `http${this.#secure ? "s" : ""}://127.0.0.1:${this.#server.addr.port}`;
  }

  stop(): Promise<void> {
    return this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const key = pathname.slice("/b/".length);
    if (request.method === "DELETE") return new Response(null, { status: 204 });
    if (request.method === "POST" && searchParams.has("uploads")) {
      return new Response("<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>");
    }
    if (request.method === "POST") {
      this.completedBytes.set(key, this.#received.get(key) ?? 0);
      return new Response("<CompleteMultipartUploadResult><ETag>e</ETag></CompleteMultipartUploadResult>");
    }
    return await this.#part(Number(key), Number(searchParams.get("partNumber")), request);
  }

  async #part(upload: number, number: number, request: Request): Promise<Response> {
    const refuses = fateOf(upload) === "store refuses early" && upload % 4 === number % 4;
    if (refuses || (fateOf(upload) === "store refuses early" && number === 2)) {
      return new Response(null, { status: 403 });
    }
    const breaksOff = fateOf(upload) === "store breaks off" && number === 1 + upload % 2;
    const start = (number - 1) * PART_BYTES;
    let rest = new Uint8Array(0);
    let at = 0;
    for await (const piece of request.body ?? []) {
      const bytes = new Uint8Array(rest.length + piece.length);
      bytes.set(rest);
      bytes.set(piece, rest.length);
      const data = new DataView(bytes.buffer);
      const whole = bytes.length - bytes.length % 4;
      for (let i = 0; i < whole; i += 4, at += 4) {
        if (data.getUint32(i) !== wordAt(upload, start + at)) {
          this.wrong.push(`${upload} part ${number} at ${at}: ${data.getUint32(i).toString(16)}`);
          return new Response(null, { status: 400 });
        }
      }
      rest = bytes.slice(whole);
      if (breaksOff && at > PART_BYTES / 3) throw new Error("broken off");
    }
    this.#received.set(String(upload), (this.#received.get(String(upload)) ?? 0) + at);
    return new Response(null, { headers: { ETag: `"${number}"` } });
  }
}
