import { randomUUID } from "node:crypto";
import { mayManageNamespaces, type User } from "@/lib/embedded/store/accounts.ts";
import { isHostLabel } from "@/lib/embedded/store/names.ts";
import { newNamespaceRecord } from "@/lib/embedded/store/namespace_record.ts";
import { OWNER_PERMISSIONS, permissionMask } from "@/lib/embedded/store/permissions.ts";
import { Refusal } from "@/lib/embedded/store/refusal.ts";
import { permittedBucket } from "@/lib/embedded/store/s3/caller.ts";
import { S3Error } from "@/lib/embedded/store/s3/s3_error.ts";
import { element, xmlResponse, xmlTime } from "@/lib/embedded/store/s3/xml.ts";
import type { StoreParts } from "@/lib/embedded/store/store_parts.ts";

/** Shortest name of a bucket that is made through S3. */
const MIN_NAME_LENGTH = 3;

/** GET /: the buckets in which the caller has any permission. */
export function listBuckets(store: StoreParts, user: User): Response {
  const entries = store.buckets.visibleTo(user.id).map((bucket) =>
    `<Bucket>${element("Name", bucket.name)}${element("CreationDate", xmlTime(bucket.createdMs))}</Bucket>`
  );
  return xmlResponse(
    "ListAllMyBucketsResult",
    `<Owner>${element("ID", user.guid)}${element("DisplayName", user.name)}</Owner><Buckets>${
      entries.join("")
    }</Buckets>`,
  );
}

/** PUT /bucket: the caller becomes the owner. One's own bucket again is no error. */
export async function createBucket(store: StoreParts, user: User, name: string): Promise<Response> {
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

/** HEAD /bucket */
export function headBucket(store: StoreParts, user: User, name: string): Response {
  permittedBucket(store.buckets, user, name, "any");
  return new Response(null, { headers: { "x-amz-bucket-region": "us-east-1" } });
}

/** DELETE /bucket: by its owner, when nothing is left in it. */
export async function deleteBucket(store: StoreParts, user: User, name: string): Promise<Response> {
  const bucket = permittedBucket(store.buckets, user, name, "any");
  if (bucket.owner !== user.id) throw new S3Error("AccessDenied");
  await store.writer.change("deleteBucket", { bucket: bucket.id });
  return new Response(null, { status: 204 });
}
