import { createHash } from "node:crypto";
import type { Answer } from "@/bench/wire/http_connection.ts";
import { elements, elementText, type S3Sent, S3Wire, textOf } from "@/bench/wire/s3_wire.ts";
import type { S3Server } from "@/bench/wire/s3_wire.ts";
import { between, pick } from "@/embedded/archive/catalogue.ts";
import {
  afterDelete,
  afterVersionDelete,
  afterWrite,
  type KeyState,
  type KnownKey,
  type KnownPart,
  type KnownUpload,
  present,
  readable,
} from "./ledger.ts";
import { bytesOf, MIN_PART_BYTES, newBody, partSize, wholeSize } from "./made_bodies.ts";

/** Bodies above this many bytes are sent in pieces, so that the server may end in the middle of one. */
const PIECE_BYTES = 64 * 1024;

/** Most keys of one multi-delete. */
const MULTI_DELETE_KEYS = 4;

/** The server ended: the last request may or may not have taken effect. */
class Gone extends Error {}

/** When a writer ends. */
interface WriterEnd {
  /** Whether it makes no further change. */
  readonly isOver: () => boolean;
  /** Whether the server may end, or start to reject requests. */
  readonly mayFail: () => boolean;
  /** Told of a request that was refused then; absent: none may be. */
  readonly onRefusal?: (answer: Answer) => void;
}

/**
 * One writer: it changes its own keys, one request after the other, and keeps in the ledger what it was told. `onEvent`
 * is called before a request, after each piece of a body, and after an answer. It ends when it is over and when the
 * server is gone; where requests may be refused, it goes on with the keys of which it knows the state.
 */
export async function writeUntilGone(
  server: S3Server,
  keys: readonly KnownKey[],
  random: () => number,
  onEvent: () => void,
  end: WriterEnd,
): Promise<void> {
  for (let left = keys; left.length > 0 && !end.isOver(); left = left.filter(isCertain)) {
    const writer = new CrashWriter(new S3Wire(server), left, random, onEvent, end);
    try {
      while (!end.isOver()) await writer.step();
    } catch (error) {
      if (!(error instanceof Gone) || !end.mayFail()) throw error instanceof Gone ? error.cause : error;
      if (!end.onRefusal) return;
    } finally {
      writer.close();
    }
  }
}

/** Whether all changes of a key were answered. */
function isCertain({ states, uploads, mayHaveUnknownUpload }: KnownKey): boolean {
  return states.length === 1 && !mayHaveUnknownUpload &&
    [...uploads.values()].every(({ unanswered }) => unanswered === null);
}

class CrashWriter {
  readonly #wire: S3Wire;
  readonly #keys: readonly KnownKey[];
  readonly #random: () => number;
  readonly #onEvent: () => void;
  readonly #end: WriterEnd;

  constructor(wire: S3Wire, keys: readonly KnownKey[], random: () => number, onEvent: () => void, end: WriterEnd) {
    this.#wire = wire;
    this.#keys = keys;
    this.#random = random;
    this.#onEvent = onEvent;
    this.#end = end;
  }

  close(): void {
    this.#wire.close();
  }

  /** One change of a random kind to a random key. */
  step(): Promise<void> {
    const key = pick(this.#random, this.#keys);
    const upload = [...key.uploads.values()].at(0);
    const kind = between(this.#random, 0, 99);
    if (kind < 20) return upload ? this.#continue(key, upload) : this.#begin(key);
    if (kind < 23 && upload) return this.#abort(key, upload);
    if (kind < 38 && upload && upload.parts.size > 0) return this.#complete(key, upload);
    if (kind < 46) return this.#copy(key);
    if (kind < 54) return this.#delete(key);
    if (kind < 62 && key.isVersioned && present(key).length > 2) return this.#deleteVersion(key);
    if (kind < 68) return this.#deleteMany(key.isVersioned);
    return this.#put(key);
  }

  async #put(key: KnownKey): Promise<void> {
    const bytes = bytesOf(newBody(wholeSize(this.#random), this.#random));
    const etag = md5(bytes);
    const version = { isMarker: false, digest: sha256(bytes), size: bytes.length };
    await this.#change(
      key,
      afterWrite(key, { ...version, id: null, etag }),
      { method: "PUT", body: this.#pieces(bytes) },
      (answer) => afterWrite(key, { ...version, id: versionOf(answer), etag }),
    );
  }

  async #copy(key: KnownKey): Promise<void> {
    const source = pick(this.#random, this.#keys);
    const from = readable(source);
    if (!from || source === key) return;
    const headers = { "x-amz-copy-source": `/${source.bucket}/${source.key}` };
    await this.#change(
      key,
      afterWrite(key, { ...from, id: null, etag: null }),
      { method: "PUT", headers },
      (answer) => afterWrite(key, { ...from, id: versionOf(answer), etag: bare(elementText(textOf(answer), "ETag")) }),
    );
  }

  async #delete(key: KnownKey): Promise<void> {
    await this.#change(
      key,
      afterDelete(key, null),
      { method: "DELETE" },
      (answer) => afterDelete(key, answer.headers.get("x-amz-version-id") ?? null),
    );
  }

  async #deleteVersion(key: KnownKey): Promise<void> {
    const { id } = pick(this.#random, present(key));
    if (id === null) return;
    const after = afterVersionDelete(key, id);
    await this.#change(key, after, { method: "DELETE", query: [["versionId", id]] }, () => after);
  }

  async #deleteMany(isVersioned: boolean): Promise<void> {
    const chosen = this.#keys.filter((key) => key.isVersioned === isVersioned && this.#random() < 0.5)
      .slice(0, MULTI_DELETE_KEYS);
    if (chosen.length === 0) return;
    const named = chosen.map(({ key }) => `<Object><Key>${key}</Key></Object>`).join("");
    const body = new TextEncoder().encode(`<Delete>${named}</Delete>`);
    for (const key of chosen) key.states = [present(key), afterDelete(key, null)];
    const text = textOf(
      await this.#send({
        method: "POST",
        bucket: chosen[0].bucket,
        query: [["delete", ""]],
        headers: { "content-md5": createHash("md5").update(body).digest("base64") },
        body,
      }),
    );
    const deleted = elements(text, "Deleted");
    if (deleted.length !== chosen.length) {
      if (this.#end.mayFail() && text.includes("<Error>")) throw new Gone("a multi-delete left keys");
      throw new Error(`a multi-delete left keys: ${text}`);
    }
    for (const key of chosen) {
      const told = deleted.find((one) => elementText(one, "Key") === key.key) ?? "";
      key.states = [afterDelete(key, elementText(told, "DeleteMarkerVersionId") || null)];
    }
  }

  async #begin(key: KnownKey): Promise<void> {
    key.mayHaveUnknownUpload = true;
    const answer = await this.#send({ method: "POST", bucket: key.bucket, key: key.key, query: [["uploads", ""]] });
    const id = elementText(textOf(answer), "UploadId");
    key.uploads.set(id, { id, parts: new Map(), unanswered: null });
    key.mayHaveUnknownUpload = false;
  }

  /** Sends a part: the last one of any size, or again an earlier one. */
  async #continue(key: KnownKey, upload: KnownUpload): Promise<void> {
    const number = between(this.#random, 1, 2);
    const body = newBody(partSize(this.#random), this.#random);
    const bytes = bytesOf(body);
    const etag = md5(bytes);
    const replacement: KnownPart = { etag, body };
    upload.unanswered = { part: number, replacement };
    const answer = await this.#send({
      method: "PUT",
      bucket: key.bucket,
      key: key.key,
      query: [["partNumber", String(number)], ["uploadId", upload.id]],
      body: this.#pieces(bytes),
    });
    if (bare(answer.headers.get("etag") ?? "") !== etag) throw new Error("a part's ETag is not its MD5");
    upload.parts.set(number, replacement);
    upload.unanswered = null;
  }

  async #complete(key: KnownKey, upload: KnownUpload): Promise<void> {
    const sorted = [...upload.parts].sort(([a], [b]) => a - b);
    // Parts that a complete does not name are given up; one that is small may only be the last.
    const isWhole = sorted.slice(0, -1).every(([, { body }]) => body.size >= MIN_PART_BYTES);
    const parts = isWhole ? sorted : sorted.slice(-1);
    const hash = createHash("sha256");
    for (const [, { body }] of parts) hash.update(bytesOf(body));
    const version = {
      isMarker: false,
      digest: hash.digest("hex"),
      size: parts.reduce((sum, [, { body }]) => sum + body.size, 0),
    };
    const named = parts.map(([number, { etag }]) =>
      `<Part><PartNumber>${number}</PartNumber><ETag>"${etag}"</ETag></Part>`
    );
    upload.unanswered = "complete";
    await this.#change(
      key,
      afterWrite(key, { ...version, id: null, etag: null }),
      {
        method: "POST",
        query: [["uploadId", upload.id]],
        body: new TextEncoder().encode(`<CompleteMultipartUpload>${named.join("")}</CompleteMultipartUpload>`),
      },
      (answer) =>
        afterWrite(key, { ...version, id: versionOf(answer), etag: bare(elementText(textOf(answer), "ETag")) }),
    );
    key.uploads.delete(upload.id);
  }

  async #abort(key: KnownKey, upload: KnownUpload): Promise<void> {
    upload.unanswered = "abort";
    await this.#send({ method: "DELETE", bucket: key.bucket, key: key.key, query: [["uploadId", upload.id]] });
    key.uploads.delete(upload.id);
  }

  /** Sends one change of a key: until the answer is there, both what was and what would be may be found. */
  async #change(
    key: KnownKey,
    after: KeyState,
    sent: Omit<S3Sent, "bucket" | "key">,
    told: (answer: Answer) => KeyState,
  ): Promise<void> {
    key.states = [present(key), after];
    const answer = await this.#send({ ...sent, bucket: key.bucket, key: key.key });
    key.states = [told(answer)];
  }

  async #send(sent: S3Sent): Promise<Answer> {
    this.#onEvent();
    let answer: Answer;
    try {
      answer = await this.#wire.send(sent);
    } catch (cause) {
      throw new Gone("no answer", { cause });
    }
    if (answer.status >= 300) {
      if (this.#end.onRefusal && this.#end.mayFail()) {
        this.#end.onRefusal(answer);
        throw new Gone("refused");
      }
      throw new Error(`${sent.method} ${sent.bucket}/${sent.key ?? ""}: ${answer.status} ${textOf(answer)}`);
    }
    this.#onEvent();
    return answer;
  }

  #pieces(bytes: Uint8Array): { size: number; parts: Iterable<Uint8Array> } {
    const onEvent = this.#onEvent;
    return {
      size: bytes.length,
      parts: (function* () {
        for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
          yield bytes.subarray(at, at + PIECE_BYTES);
          onEvent();
        }
      })(),
    };
  }
}

function versionOf(answer: Answer): string {
  return answer.headers.get("x-amz-version-id") ?? "null";
}

function bare(etag: string): string {
  return etag.replaceAll('"', "");
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function md5(bytes: Uint8Array): string {
  return createHash("md5").update(bytes).digest("hex");
}
