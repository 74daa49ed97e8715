import { randomUUID } from "node:crypto";
import { mayManageNamespaces } from "@/embedded/store/accounts.ts";
import { isBucketName } from "@/embedded/store/names.ts";
import { newNamespace } from "@/embedded/store/namespace_record.ts";
import { OWNER_PERMISSIONS, permissionMask } from "@/embedded/store/permissions.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { statedAcl } from "./acl_headers.ts";
import { bucketAccess, signedUser } from "./permitted.ts";
import { childWord, type XmlElement } from "./read_xml.ts";
import { rejectHeaders } from "./unsupported_headers.ts";
import { requestedAcl } from "./requested_acl.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Call } from "./s3_operation.ts";
import { optionalXmlBody } from "./xml_body.ts";

/** Shortest name of a bucket that is created through S3. */
const MIN_NAME_LENGTH = 3;

/** Would create another kind of bucket. */
const UNSUPPORTED = /^x-amz-bucket-namespace/;

/** CreateBucket: the caller becomes the owner. One's own bucket again is no error, unless a location is named. */
export async function createBucket(call: S3Call): Promise<Response> {
  const { store, caller, request, bucket: name } = call;
  const user = signedUser(caller);
  if (!isBucketName(name, MIN_NAME_LENGTH)) throw new S3Error("InvalidBucketName");
  rejectHeaders(request.headers, UNSUPPORTED);
  const configuration = await optionalXmlBody(request, caller, "CreateBucketConfiguration");
  requireNothingMore(configuration);
  const created = () => new Response(null, { headers: { location: `/${name}` } });
  const { record, versioning, versionSettings } = newNamespace(store.documents, user.tenant);
  const existing = store.buckets.bucket(user.tenant, name);
  const acl = requestedAcl(call, existing?.record ?? record, { owner: user.id, bucketOwner: null });
  if (existing?.owner === user.id) {
    if (configuration && childWord(configuration, "LocationConstraint")) throw new S3Error("BucketAlreadyOwnedByYou");
    // As in S3's default region, which has no name here: saying it again with another access list changes the list.
    if (statedAcl(call.request.headers)) {
      // Which is a request to the bucket that is there, and bound by what closes it.
      bucketAccess(call, name);
      await store.writer.change("setBucketAcl", { bucket: existing.id, acl });
    }
    return created();
  }
  if (existing) throw new S3Error("BucketAlreadyExists");
  if (![user, ...store.groups.ofUser(user.id)].some(mayManageNamespaces)) throw new S3Error("AccessDenied");
  try {
    await store.writer.change("createBucket", {
      tenant: user.tenant,
      name,
      guid: randomUUID(),
      owner: user.id,
      ownerPermissions: permissionMask(OWNER_PERMISSIONS),
      versioning,
      versionSettings,
      record: JSON.stringify(record),
      acl,
      isLimited: true,
      atMs: store.now(),
    });
  } catch (error) {
    if (error instanceof StoreError && error.code === "NameTaken") throw new S3Error("BucketAlreadyExists");
    throw error;
  }
  return created();
}

/** A location may be named, as clients do; there is only one. Tags and other kinds of bucket are not supported. */
function requireNothingMore(configuration: XmlElement | null): void {
  const more = configuration?.children.find((child) => child.name !== "LocationConstraint");
  if (more) throw new S3Error("NotImplemented", `${more.name} is not provided`);
}
