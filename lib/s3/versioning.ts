import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import type { S3 } from "./client.ts";
import { callSdk, callSdkForHeaders } from "./sdk.ts";

/** The states of a bucket's versioning; before it is first set it has none. */
export const VERSIONING_STATES = ["Enabled", "Suspended"] as const;
export type VersioningState = typeof VERSIONING_STATES[number];

export const versioning = z.object({
  status: z.enum(VERSIONING_STATES).nullable().meta({ description: "Null: never switched on" }),
  mfa_delete: z.string().nullable(),
});
type Versioning = z.output<typeof versioning>;

/** A bucket's versioning. @throws HttpError as {@link callSdk} */
export async function getVersioning(s3: S3, caller: Caller, bucket: string): Promise<Versioning> {
  return await callSdk(s3, caller, { operation: "GetBucketVersioning", bucket }, ({ Status, MFADelete }) => ({
    status: VERSIONING_STATES.find((known) => known === Status) ?? null,
    mfa_delete: MFADelete || null,
  }));
}

/** Sets a bucket's versioning. @throws HttpError as {@link callSdk} */
export async function setVersioning(s3: S3, caller: Caller, bucket: string, Status: VersioningState): Promise<void> {
  const input = { VersioningConfiguration: { Status } };
  await callSdkForHeaders(s3, caller, { operation: "PutBucketVersioning", bucket, input });
}
