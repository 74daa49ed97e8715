import { createHmac, type KeyObject } from "node:crypto";
import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { derivedKey } from "@/lib/std/derived_key.ts";
import { openText, sealText } from "@/lib/std/sealed_text.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";

/** Keys of the task operations, each for one purpose. */
export interface TaskKeys {
  /** Seals the credentials of running tasks. */
  readonly seal: KeyObject;
  /** Derives the owner of a task from credentials. */
  readonly owner: KeyObject;
  /** Signs the tickets of archives. */
  readonly ticket: KeyObject;
}

/** Derives the keys from the secret that signs tokens (`API_SECRET_KEY`), equal in all processes. */
export function taskKeys(secret: Uint8Array): TaskKeys {
  return {
    seal: derivedKey(secret, "task credentials"),
    owner: derivedKey(secret, "task owner"),
    ticket: derivedKey(secret, "zip ticket"),
  };
}

const SEALED = z.object({
  username: z.string(),
  tenant: z.string().nullable(),
  s3: z.object({ accessKey: z.string(), secretKey: z.string() }),
  named: z.boolean(),
});

/** The owner of tasks: a digest of a caller's user, tenant and S3 keys, so that other credentials are another owner. */
export function ownerOf({ username, tenant, s3 }: Caller, { owner }: TaskKeys): string {
  const text = JSON.stringify([tenant?.toLowerCase() ?? null, username, s3.accessKey, s3.secretKey]);
  return createHmac("sha256", owner).update(text).digest("base64url");
}

/** Seals the derived S3 keys of a caller for one task; its password and its MAPI credentials are left out. */
export function sealCaller({ username, tenant, s3, named }: Caller, taskId: string, { seal }: TaskKeys): Uint8Array {
  const { accessKey, secretKey } = s3;
  return sealText(JSON.stringify({ username, tenant, s3: { accessKey, secretKey }, named }), seal, taskId);
}

/** The caller of a task; null where it was sealed with another `API_SECRET_KEY`. It has no MAPI credentials. */
export function openCaller(sealed: Uint8Array, taskId: string, { seal }: TaskKeys): Caller | null {
  const text = openText(sealed, seal, taskId);
  const { data } = SEALED.safeParse(text === null ? undefined : parsedJson(text));
  return data ? { ...data, mapiAuthorization: null } : null;
}
