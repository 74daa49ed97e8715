import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { type ChosenFile, UploadEngine } from "@/lib/client/storage/upload/upload_engine.ts";
import type { UploadState } from "@/lib/client/storage/upload/upload_item.ts";
import { UploadSteps } from "@/lib/client/storage/upload/upload_steps.ts";
import { webDigest } from "@/lib/client/storage/upload/part_digest.ts";
import { HeldClock, settled } from "@/tests/lib/client/held_clock.ts";
import { FakeBucket, type Interception, MemoryJournal, s3Error, type SeenRequest } from "./fake_bucket.ts";

export const MIB = 1024 * 1024;
export const FOLDER = { bucket: "b", prefix: "scans/" };

/** A page: an engine that sends to a bucket, and what happened to it. */
export class Page {
  readonly clock = new HeldClock();
  readonly engine: UploadEngine;
  /** Continues once something has changed. */
  #changed = Promise.withResolvers<void>();

  /**
   * @param claimed uploads in parts that pages have, where those do not end with this page's beginning
   * @param load what loading the code that sends waits for
   */
  constructor(
    readonly bucket = new FakeBucket(),
    readonly journal = new MemoryJournal(),
    claimed = new Set<string>(),
    load: () => Promise<void> = () => Promise.resolve(),
  ) {
    this.engine = new UploadEngine({
      calls: bucket.calls,
      sending: async () => {
        await load();
        return {
          put: bucket.put,
          digest: webDigest(crypto.subtle, 64 * MIB),
          steps: (context) => new UploadSteps(context),
        };
      },
      journal,
      claim: (uploadId) => {
        const isFree = !claimed.has(uploadId);
        claimed.add(uploadId);
        return Promise.resolve(isFree);
      },
      clock: this.clock,
      random: () => 1,
      origin: "https://stackroom.example.org",
      onChange: () => {
        this.#changed.resolve();
        this.#changed = Promise.withResolvers();
      },
    });
  }

  states(): UploadState[] {
    return this.engine.items.map(({ state }) => state);
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await this.#changed.promise;
    await settled();
  }

  /** Waits until every file has a state that it does not leave by itself. */
  async atRest(): Promise<void> {
    await this.until(() => !this.engine.isBusy || this.engine.halted !== null);
  }

  /** Lets time pass until a condition holds, since failures are followed by waits. */
  async pass(holds: () => boolean): Promise<void> {
    for (let seconds = 0; !holds(); seconds++) {
      assert.ok(seconds < 1000, `never: ${this.states()}`);
      await this.clock.pass(1);
      await settled();
    }
  }
}

export function file(path: string, content: string | Uint8Array<ArrayBuffer>): ChosenFile {
  return { path, file: new File([content], path.slice(path.lastIndexOf("/") + 1), { lastModified: 1 }) };
}

/** Bytes that differ from part to part. @param length a multiple of four */
function bytes(length: number): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(length / 4);
  for (let index = 0; index < words.length; index++) words[index] = index * 7;
  return new Uint8Array(words.buffer);
}

export const large = bytes(40 * MIB);
/** Sent by one PUT, and straight to the store. */
export const medium = bytes(MIB);
/** The PUT of a whole file; the probe has the URL of a part. */
export const isWhole = ({ operation, key, query }: SeenRequest, name: string) =>
  /^put(?:_object)?$/.test(operation) && key === name && !query.has("upload_id");
export const isPart = ({ operation, query }: SeenRequest, number: number) =>
  operation === "put" && query.get("part_number") === String(number) && query.get("upload_id") !== "not-an-upload";

/** Compared by Buffer, since deepEqual takes seconds for so many bytes. */
export function assertLarge({ objects }: FakeBucket, key = "scans/large.bin"): void {
  assert.ok(Buffer.from(large).equals(objects.get(key) ?? new Uint8Array()), "the object is the file");
}

/** A store that does not know the condition that nothing is overwritten. */
export const withoutCondition: Interception = ({ headers }) =>
  headers.has("if-none-match") ? s3Error(501, "NotImplemented") : undefined;

/** The same, for a login that may not list either. */
export const withoutListingAndCondition: Interception = (request) =>
  request.operation === "list_objects" ? Response.json({ detail: "no" }, { status: 403 }) : withoutCondition(request);

/** Sends a large file until two of its three parts have arrived, and no further. */
export async function interrupt(page: Page): Promise<void> {
  const { bucket, engine } = page;
  const held = Promise.withResolvers<void>();
  bucket.intercept = (request) => {
    if (!isPart(request, 2)) return undefined;
    held.resolve();
    return new Promise(() => {});
  };
  await engine.add([file("large.bin", large)], FOLDER);
  await held.promise;
  await page.until(() => engine.items[0].upload?.parts.size === 2);
  bucket.intercept = () => undefined;
}
