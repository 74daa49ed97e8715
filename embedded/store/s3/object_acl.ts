import type { StoredObject } from "@/embedded/store/objects.ts";
import type { Permission } from "@/embedded/store/permissions.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { findObject, versionHeader, versionParameter } from "./object_version.ts";
import { type BucketAccess, bucketAccess, permittedObject } from "./permitted.ts";
import { aclResponse, readPutAcl } from "./acl_subresource.ts";
import { requireAcls } from "./requested_acl.ts";
import type { S3Call, S3Operation } from "./s3_operation.ts";

const acl = { level: "object", marker: ["acl"], parameters: ["versionId"] } as const;

/** How often an object that was overwritten between its look-up and the change is looked up again. */
const ATTEMPTS = 5;

/** GetObjectAcl */
export const getObjectAcl: S3Operation = {
  name: "GetObjectAcl",
  method: "GET",
  ...acl,
  handle: (call) => {
    const access = bucketAccess(call, call.bucket);
    const object = objectFor(call, access, "READ_ACL");
    return aclResponse(call, access.bucket.record, object, versionHeader(object.version));
  },
};

/** PutObjectAcl: replaces the present list, on the current version or the one that is named. */
export const putObjectAcl: S3Operation = { name: "PutObjectAcl", method: "PUT", ...acl, handle: put };

async function put(call: S3Call): Promise<Response> {
  const { store, key } = call;
  const before = bucketAccess(call, call.bucket);
  objectFor(call, before, "WRITE_ACL");
  requireAcls(before.bucket.record);
  const aclFor = await readPutAcl(call);
  for (let attempt = 1;; attempt++) {
    const access = bucketAccess(call, call.bucket);
    const object = objectFor(call, access, "WRITE_ACL");
    const acl = aclFor({ owner: object.owner, bucketOwner: access.bucket.owner });
    const at = { bucket: access.bucket.id, key: new TextEncoder().encode(key), seq: object.seq };
    try {
      await store.writer.change("setObjectAcl", { ...at, acl });
      return new Response(null, { headers: versionHeader(object.version) });
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== "NoSuchKey" || attempt === ATTEMPTS) throw error;
    }
  }
}

function objectFor(call: S3Call, access: BucketAccess, permission: Permission): StoredObject {
  const version = versionParameter(call.request);
  return permittedObject(access, permission, () => findObject(call.store, access.bucket, call.key, version));
}
