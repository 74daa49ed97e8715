import { randomUUID } from "node:crypto";
import { mayManageNamespaces } from "@/lib/embedded/store/accounts.ts";
import { isHostLabel } from "@/lib/embedded/store/names.ts";
import { newNamespaceRecord } from "@/lib/embedded/store/namespace_record.ts";
import { OWNER_PERMISSIONS, permissionMask } from "@/lib/embedded/store/permissions.ts";
import { Refusal } from "@/lib/embedded/store/refusal.ts";
import { S3Error } from "@/lib/embedded/store/s3/s3_error.ts";
import type { S3Call, S3Operation } from "@/lib/embedded/store/s3/s3_operation.ts";

/** Shortest name of a bucket that is made through S3. */
const MIN_NAME_LENGTH = 3;

/** CreateBucket: the caller becomes the owner. One's own bucket again is no error. */
export const createBucket: S3Operation = {
  name: "CreateBucket",
  method: "PUT",
  level: "bucket",
  parameters: [],
  handle,
};

async function handle({ store, caller: { user }, bucket: name }: S3Call): Promise<Response> {
  if (!isHostLabel(name, MIN_NAME_LENGTH)) throw new S3Error("InvalidBucketName");
  const created = () => new Response(null, { headers: { location: `/${name}` } });
  const existing = store.buckets.bucket(user.tenant, name);
  if (existing?.owner === user.id) return created();
  if (existing) throw new S3Error("BucketAlreadyExists");
  if (!mayManageNamespaces(user)) throw new S3Error("AccessDenied");
  try {
    await store.writer.change("createBucket", {
      tenant: user.tenant,
      name,
      guid: randomUUID(),
      owner: user.id,
      ownerPermissions: permissionMask(OWNER_PERMISSIONS),
      versioning: "off",
      record: JSON.stringify(newNamespaceRecord({})),
      atMs: store.now(),
    });
  } catch (error) {
    if (error instanceof Refusal && error.reason === "NameTaken") throw new S3Error("BucketAlreadyExists");
    throw error;
  }
  return created();
}
