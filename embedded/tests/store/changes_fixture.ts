import assert from "node:assert/strict";
import { sweepBodies } from "@/embedded/store/body_folder.ts";
import type { Deleted, DeleteOutcome } from "@/embedded/store/changes.ts";
import { openIndexForWriting } from "@/embedded/store/index.ts";
import { Statements } from "@/embedded/store/statements.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { Objects } from "@/embedded/store/stored_objects.ts";
import type { Change, ChangeKind, Input, Outcome, Result } from "@/embedded/store/writer/reported_changes.ts";
import { Writer } from "@/embedded/store/writer/writer.ts";
import type { ChangeWriter } from "@/embedded/store/writer/writer_client.ts";

type ChangeOf<Kind extends Change["kind"]> = Extract<Change, { kind: Kind }>;
type Given<Kind extends ChangeKind> = Partial<Input<Kind>>;

/** UTF-8 bytes. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** The change that creates a bucket `b` without an owner, of the system's tenant; the first one of a store has the id 1. */
export function createBucket(given: Given<"createBucket"> = {}): ChangeOf<"createBucket"> {
  return {
    kind: "createBucket",
    input: {
      tenant: 0,
      name: "b",
      guid: "g",
      owner: null,
      ownerPermissions: 0,
      versioning: "off",
      record: "{}",
      atMs: 0,
      ...given,
    },
  };
}

/** The change that writes an object into bucket 1, whose entity tag is its text. */
export function putObject(key: string, text: string, given: Given<"putObject"> = {}): ChangeOf<"putObject"> {
  const data = utf8(text);
  return {
    kind: "putObject",
    input: {
      bucket: 1,
      key: utf8(key),
      body: { data },
      size: data.length,
      etag: text,
      contentType: "text/plain",
      headers: null,
      checksums: null,
      tags: null,
      acl: null,
      owner: null,
      condition: null,
      atMs: 1,
      ...given,
    },
  };
}

/** The change that deletes several objects of bucket 1, or versions of them. */
export function deleteObjects(objects: Input<"deleteObjects">["objects"], atMs = 1): ChangeOf<"deleteObjects"> {
  return { kind: "deleteObjects", input: { bucket: 1, objects, atMs } };
}

/** The change that deletes an object of bucket 1, or one version of it. */
export function deleteObject(key: string, { version = null, ifMatch = null, atMs = 1 }: Deleting = {}) {
  return deleteObjects([{ key: utf8(key), version, ifMatch }], atMs);
}

interface Deleting {
  version?: string | null;
  ifMatch?: string | null;
  atMs?: number;
}

/** The outcomes of several deletions. */
export function deletionsOf(outcome: Outcome): readonly DeleteOutcome[] {
  assert.ok(outcome.ok && outcome.result && "outcomes" in outcome.result, JSON.stringify(outcome));
  return outcome.result.outcomes;
}

/** The result of one deletion. */
export function deletedOf(outcome: Outcome): Deleted {
  const [one] = deletionsOf(outcome);
  assert.ok("isMarker" in one, JSON.stringify(one));
  return one;
}

/** In place of a reserve on the disk, whose files take time to write: deletions get no room beyond what is left. */
export const NO_RESERVE = { isWhole: true, make: () => true, hasBeside: () => true, release: () => false };

/** The index and the writer of a new store in a folder of its own, once some changes are committed. */
export function writtenStore(changes: readonly Change[]) {
  const folder = Deno.makeTempDirSync();
  const index = openIndexForWriting(folder);
  sweepBodies(folder, index);
  const writer = new Writer(folder, index, { reserve: NO_RESERVE, warn: () => {} });
  const statements = new Statements(index);
  for (const outcome of writer.commit(changes)) assert.ok(outcome.ok);
  return {
    folder,
    index,
    writer,
    statements,
    objects: new Objects(folder, statements),
    [Symbol.dispose]() {
      index.close();
      Deno.removeSync(folder, { recursive: true });
    },
  };
}

/** The writer as operations of S3 use it. */
export function changesOf(writer: Writer): { readonly writer: ChangeWriter; readonly now: () => number } {
  const change: ChangeWriter["change"] = (kind, input) => {
    const [outcome] = writer.commit([{ kind, input } as Change]);
    if (outcome.ok) return Promise.resolve(outcome.result as Result<typeof kind>);
    return Promise.reject("error" in outcome ? new StoreError(outcome.error) : new Error(outcome.fault));
  };
  return { writer: { change } as ChangeWriter, now: () => 1 };
}
