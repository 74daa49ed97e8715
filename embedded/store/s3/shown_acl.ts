import { aclsUsageOf, type Owned } from "@/embedded/store/access.ts";
import { defaultAcl } from "@/embedded/store/acl.ts";
import { displayedGrants } from "./acl_grantees.ts";
import { aclContent } from "./acl_xml.ts";
import type { S3Call } from "./s3_operation.ts";
import { xmlResponse } from "./xml.ts";

/** The answer that shows the access list of a bucket or an object; where namespaces have none, that of the owner alone. */
export function aclResponse(
  { store, caller }: S3Call,
  settings: Readonly<Record<string, unknown>>,
  { owner, acl }: Owned,
  headers: Record<string, string> = {},
): Response {
  const user = owner === null ? null : store.accounts.userById(owner);
  const stored = aclsUsageOf(settings) === "none" ? null : acl;
  const grants = displayedGrants(store, caller.tenant, stored ?? defaultAcl(user?.guid ?? null));
  const shownOwner = user && { id: user.guid, displayName: user.name };
  return xmlResponse("AccessControlPolicy", aclContent(shownOwner, grants), headers);
}
