import { aclsUsageOf, type Owned } from "@/embedded/store/access.ts";
import { defaultAcl, serializeAcl } from "@/embedded/store/acl.ts";
import { displayedGrants, resolveGrants } from "./acl_grantees.ts";
import { statedAcl } from "./acl_headers.ts";
import { aclContent, readAclXml } from "./acl_xml.ts";
import { aclOf, type AclTarget } from "./requested_acl.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Call } from "./s3_operation.ts";
import { xmlResponse } from "./xml.ts";
import { smallBody, xmlBody } from "./xml_body.ts";

/**
 * Reads the access list of a PutBucketAcl or PutObjectAcl from its headers or its body.
 *
 * @returns a function that makes it the access list of a target, as the index stores it. It throws S3Error AccessDenied
 *   where the body names another owner than the present one
 * @throws {S3Error}
 */
export async function readPutAcl(call: S3Call): Promise<(target: AclTarget) => string | null> {
  const { store, caller, request } = call;
  const stated = statedAcl(request.headers);
  if (stated) {
    if ((await smallBody(request)).length > 0) {
      throw new S3Error("InvalidRequest", "An access list comes in the headers or in the body, not in both");
    }
    return (target) => aclOf(call, stated, target);
  }
  const { owner, grants } = readAclXml(await xmlBody(request, caller, "AccessControlPolicy"));
  const stored = serializeAcl(resolveGrants(store, caller.tenant, grants));
  return (target) => {
    const present = target.owner === null ? null : store.accounts.userById(target.owner);
    if (owner !== null && owner.toLowerCase() !== present?.guid) {
      throw new S3Error("AccessDenied", "The owner cannot be changed by an access list");
    }
    return stored;
  };
}

/**
 * The response with the access list of a bucket or an object; where the namespace has none, it grants the owner full
 * control.
 */
export function aclResponse(
  { store, caller }: S3Call,
  settings: Readonly<Record<string, unknown>>,
  { owner, acl }: Owned,
  headers: Record<string, string> = {},
): Response {
  const user = owner === null ? null : store.accounts.userById(owner);
  const stored = aclsUsageOf(settings) === "none" ? null : acl;
  const grants = displayedGrants(store, caller.tenant, stored ?? defaultAcl(user?.guid ?? null));
  const ownerAccount = user && { id: user.guid, displayName: user.name };
  return xmlResponse("AccessControlPolicy", aclContent(ownerAccount, grants), headers);
}
