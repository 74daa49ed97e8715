import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { ownerOf, provenName, sealCaller, taskKeys } from "@/lib/tasks/task_keys.ts";
import type { TaskStore } from "@/lib/tasks/task.ts";

const SECRET = "a long secret of this deployment";
const PASSWORD = "hushed-password";
const CALLER: Caller = {
  username: "hushed-name",
  tenant: "hushed-tenant",
  s3: { accessKey: "aHVzaGVkLW5hbWU=", secretKey: "5f4dcc3b5aa765d61d8327deb882cf99" },
  mapiAuthorization: `HCP aHVzaGVkLW5hbWU=:${PASSWORD}`,
  named: true,
};

/** Stores a task that runs, one that failed and an archive of one caller. */
export async function storeCallers(store: TaskStore): Promise<void> {
  const keys = taskKeys(new TextEncoder().encode(SECRET));
  for (const state of ["running", "failed", "ready"] as const) {
    const id = crypto.randomUUID();
    const task = {
      id,
      kind: "zip",
      owner: ownerOf(CALLER, keys),
      bucket: "letters",
      progress: "{}",
      ...provenName(CALLER),
    } as const;
    const sealedCaller = sealCaller(CALLER, task, { at: 0, digests: {} }, keys);
    await store.create({ ...task, sealedCaller }, "a", { maxPerOwner: 9, maxPerTenant: 9, max: 9 });
    if (state === "running") continue;
    await store.end(id, "a", { state, error: null, progress: "{}", keepsCaller: state === "ready" });
  }
}

/** Bytes as text in which any part can be looked for. */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}

/** All files below a folder, as {@linkcode latin1}. */
export async function bytesBelow(folder: string): Promise<string> {
  let text = "";
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    text += isDirectory ? await bytesBelow(path) : latin1(await Deno.readFile(path));
  }
  return text;
}

/** Expects no part of the caller's credentials in a text besides its name, neither as it is nor encoded. */
export function assertNoCredentials(shown: string): void {
  const { s3 } = CALLER;
  for (const part of [PASSWORD, SECRET, s3.accessKey, s3.secretKey]) {
    const bytes = Buffer.from(part);
    // The last characters of base64 depend on what follows.
    const spellings = [part, bytes.toString("hex"), bytes.toString("base64").slice(0, -4)];
    for (const spelling of spellings) assert.ok(!shown.includes(spelling), `${part} is stored`);
  }
}
