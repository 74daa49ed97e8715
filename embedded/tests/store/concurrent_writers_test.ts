import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { elements, S3Wire, textOf } from "@/bench/wire/s3_wire.ts";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { s3Keys, startStore } from "./store_fixture.ts";

const WRITERS = 6;
const READERS = 6;
const WRITES_EACH = 40;
const KEY = "shared/by all";

/** Sizes on both sides of what is kept in the index, so that blobs and files replace each other. */
const SIZES = [0, 1, 900, 16_384, 16_385, 70_000, 400_000];

Deno.test("embedded S3: while many overwrite one key, every read is one whole version", async () => {
  await using store = await startStore();
  const { accessKeyId, secretAccessKey } = s3Keys("curator", SAMPLE_PASSWORD);
  const server = { origin: store.s3("archive"), keys: { accessKey: accessKeyId, secretKey: secretAccessKey } };
  for (const bucket of ["letters", "maps"]) {
    const sent = new Set<string>();
    const first = new S3Wire(server);
    await put(first, bucket, body(0, 0), sent);
    let writing = WRITERS;
    let reads = 0;
    const seen = new Set<string>();
    await Promise.all([
      ...Array.from({ length: WRITERS }, async (_, writer) => {
        const wire = new S3Wire(server);
        for (let n = 1; n <= WRITES_EACH; n++) await put(wire, bucket, body(writer, n), sent);
        wire.close();
        writing--;
      }),
      ...Array.from({ length: READERS }, async () => {
        const wire = new S3Wire(server);
        while (writing > 0) {
          const answer = await wire.succeed({ method: "GET", bucket, key: KEY });
          const etag = md5(answer.body);
          assert.equal(answer.headers.get("etag"), `"${etag}"`);
          assert.equal(answer.headers.get("content-length"), String(answer.body.length));
          assert.ok(sent.has(etag), "a body that nobody sent");
          seen.add(etag);
          reads++;
        }
        wire.close();
      }),
    ]);
    assert.ok(reads > READERS && seen.size > 1, "reads met several versions");
    const listed = textOf(await first.succeed({ method: "GET", bucket, query: [["list-type", "2"], ["prefix", KEY]] }));
    assert.equal(elements(listed, "Contents").length, 1);
    const versions = textOf(await first.succeed({ method: "GET", bucket, query: [["versions", ""], ["prefix", KEY]] }));
    assert.equal(elements(versions, "Version").length, bucket === "maps" ? WRITERS * WRITES_EACH + 1 : 1);
    first.close();
  }
});

async function put(wire: S3Wire, bucket: string, bytes: Uint8Array, sent: Set<string>): Promise<void> {
  const etag = md5(bytes);
  sent.add(etag);
  const answer = await wire.succeed({ method: "PUT", bucket, key: KEY, body: bytes });
  assert.equal(answer.headers.get("etag"), `"${etag}"`);
}

/** Bytes that say all over who sent them, so that a mixture of two has a digest of its own. */
function body(writer: number, n: number): Uint8Array {
  const bytes = new Uint8Array(SIZES[(writer + n) % SIZES.length]);
  const name = new TextEncoder().encode(`writer ${writer}, write ${n}. `);
  for (let i = 0; i < bytes.length; i++) bytes[i] = name[i % name.length];
  return bytes;
}

function md5(bytes: Uint8Array): string {
  return createHash("md5").update(bytes).digest("hex");
}
