import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { elements, elementText, type S3Server, S3Wire, textOf } from "@/bench/wire/s3_wire.ts";
import { type FoundBucket, type FoundVersion, readBucket } from "./found.ts";
import type { KeyState, KnownKey, KnownUpload, KnownVersion, Ledger } from "./ledger.ts";

/** Parallel connections that read bodies. */
const READERS = 4;

/** Counts of compared objects. */
export interface Compared {
  versions: number;
  uploads: number;
  /** Changes that were never answered, and of these, those that happened. */
  unanswered: number;
  happened: number;
}

/**
 * Compares everything that the ledger was told with what the store shows: every version and its bytes, markers, both
 * listings, uploads and their parts. A change without an answer happened as a whole or not at all, and the ledger is told
 * which. Throws an assertion error that names the key.
 */
export async function compareAll(server: S3Server, ledger: Ledger, random: () => number): Promise<Compared> {
  const wires = Array.from({ length: READERS }, () => new S3Wire(server));
  const compared: Compared = { versions: 0, uploads: 0, unanswered: 0, happened: 0 };
  try {
    const buckets = new Map<string, FoundBucket>();
    for (const { bucket } of ledger.keys) {
      if (!buckets.has(bucket)) buckets.set(bucket, await readBucket(wires[0], bucket, "crash/", random));
    }
    const waiting = [...ledger.keys];
    await Promise.all(wires.map(async (wire) => {
      for (let key = waiting.pop(); key; key = waiting.pop()) {
        const bucket = buckets.get(key.bucket);
        assert.ok(bucket);
        await compareKey(wire, key, bucket, compared);
      }
    }));
    for (const [name, bucket] of buckets) {
      const known = new Set(ledger.keys.filter((key) => key.bucket === name).map(({ key }) => key));
      for (const shown of [...bucket.objects.keys(), ...bucket.versions.keys(), ...bucket.uploads.keys()]) {
        assert.ok(known.has(shown), `${name}/${shown} was never written`);
      }
    }
    return compared;
  } finally {
    for (const wire of wires) wire.close();
  }
}

async function compareKey(wire: S3Wire, key: KnownKey, bucket: FoundBucket, compared: Compared): Promise<void> {
  const name = `${key.bucket}/${key.key}`;
  const found = bucket.versions.get(key.key) ?? [];
  const bodies = new Map<string, string>();
  for (const version of found) {
    if (!version.isMarker) bodies.set(version.id, await readVersion(wire, key, version));
  }
  const differences = key.states.map((state) => differenceOf(state, found, bodies));
  const which = differences.indexOf(null);
  assert.ok(which >= 0, `${name} is not what was acknowledged: ${differences.join("; nor the change under way: ")}`);
  if (key.states.length === 2) {
    compared.unanswered++;
    compared.happened += which;
  }
  const state: KeyState = (key.states[which] ?? key.states[0]).map((version, i) => ({
    ...version,
    id: found[i].id,
    etag: version.isMarker ? null : found[i].etag,
  }));
  compared.versions += found.length;

  found.forEach(({ isLatest }, i) => assert.equal(isLatest, i === 0, `${name}: which version is the latest`));
  const newest = state.at(0);
  const listed = bucket.objects.get(key.key);
  const expected = newest && !newest.isMarker ? { etag: newest.etag, size: newest.size } : undefined;
  assert.deepEqual(listed, expected, `${name} in the plain listing`);
  const plain = await wire.send({ method: "GET", bucket: key.bucket, key: key.key });
  assert.equal(plain.status, expected ? 200 : 404, `${name}: a plain read`);
  if (expected) assert.equal(sha256(plain.body), newest?.digest, `${name}: the bytes of a plain read`);

  await compareUploads(wire, key, bucket.uploads.get(key.key) ?? [], which === 1, compared);
  key.states = [state];
}

/** Why what was found is not a state; null when it is. */
function differenceOf(
  state: KeyState,
  found: readonly FoundVersion[],
  bodies: ReadonlyMap<string, string>,
): string | null {
  if (state.length !== found.length) return `${state.length} versions, found ${found.length}`;
  for (const [i, version] of state.entries()) {
    const difference = versionDifference(version, found[i], bodies.get(found[i].id));
    if (difference) return `version ${i} of ${state.length}: ${difference}`;
  }
  return null;
}

function versionDifference(known: KnownVersion, found: FoundVersion, digest: string | undefined): string | null {
  if (known.isMarker !== found.isMarker) return found.isMarker ? "a marker was found" : "no marker was found";
  if (known.id !== null && known.id !== found.id) return `id ${known.id}, found ${found.id}`;
  if (known.isMarker) return null;
  if (known.size !== found.size) return `${known.size} bytes, found ${found.size}`;
  if (known.etag !== null && known.etag !== found.etag) return `ETag ${known.etag}, found ${found.etag}`;
  return known.digest === digest
    ? null
    : `digest ${known.digest} of ${known.size} bytes, found ${digest} with ETag ${found.etag}`;
}

/** The digest of a version's bytes. */
async function readVersion(wire: S3Wire, { bucket, key }: KnownKey, version: FoundVersion): Promise<string> {
  const hash = createHash("sha256");
  const answer = await wire.succeed({
    method: "GET",
    bucket,
    key,
    query: [["versionId", version.id]],
    onPart: (part) => hash.update(part),
  });
  assert.equal(answer.headers.get("etag"), `"${version.etag}"`, `${bucket}/${key}: the ETag of ${version.id}`);
  return hash.digest("hex");
}

async function compareUploads(
  wire: S3Wire,
  key: KnownKey,
  found: readonly string[],
  hasHappened: boolean,
  compared: Compared,
): Promise<void> {
  const name = `${key.bucket}/${key.key}`;
  for (const upload of [...key.uploads.values()]) {
    const isFound = found.includes(upload.id);
    if (upload.unanswered === "complete") {
      assert.equal(isFound, !hasHappened, `${name}: an upload ends when its object appears, and not before`);
    } else if (upload.unanswered === "abort") {
      compared.unanswered++;
      compared.happened += isFound ? 0 : 1;
    } else {
      assert.ok(isFound, `${name}: the upload ${upload.id} is lost`);
    }
    if (!isFound) {
      key.uploads.delete(upload.id);
      continue;
    }
    compared.uploads++;
    await compareParts(wire, key, upload, compared);
    upload.unanswered = null;
  }
  const unknown = found.filter((id) => !key.uploads.has(id));
  assert.ok(unknown.length <= (key.mayHaveUnknownUpload ? 1 : 0), `${name}: uploads that nobody began: ${unknown}`);
  for (const id of unknown) key.uploads.set(id, { id, parts: new Map(), unanswered: null });
  key.mayHaveUnknownUpload = false;
}

async function compareParts(wire: S3Wire, key: KnownKey, upload: KnownUpload, compared: Compared): Promise<void> {
  const answer = await wire.succeed({
    method: "GET",
    bucket: key.bucket,
    key: key.key,
    query: [["uploadId", upload.id]],
  });
  const found = new Map(
    elements(textOf(answer), "Part").map((part) => [
      Number(elementText(part, "PartNumber")),
      `${elementText(part, "ETag").replaceAll('"', "")} ${elementText(part, "Size")}`,
    ]),
  );
  const pending = typeof upload.unanswered === "object" ? upload.unanswered : null;
  if (pending) {
    const { part, replacement } = pending;
    const isThere = found.get(part) === `${replacement.etag} ${replacement.body.size}`;
    compared.unanswered++;
    compared.happened += isThere ? 1 : 0;
    if (isThere) upload.parts.set(part, replacement);
  }
  const known = new Map([...upload.parts].map(([number, { etag, body }]) => [number, `${etag} ${body.size}`]));
  assert.deepEqual(
    [...found].sort(byNumber),
    [...known].sort(byNumber),
    `${key.bucket}/${key.key}: the parts of ${upload.id}`,
  );
}

function byNumber([a]: [number, string], [b]: [number, string]): number {
  return a - b;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
