import { aclsUsageOf, type Owned } from "@/lib/embedded/store/access.ts";
import { defaultAcl } from "@/lib/embedded/store/acl.ts";
import { shownGrants } from "@/lib/embedded/store/s3/acl_grantees.ts";
import { aclContent } from "@/lib/embedded/store/s3/acl_xml.ts";
import type { S3Call } from "@/lib/embedded/store/s3/s3_operation.ts";
import { xmlResponse } from "@/lib/embedded/store/s3/xml.ts";

/** The answer that shows the access list of a bucket or an object; where namespaces have none, that of the owner alone. */
export function shownAcl(
  { store, caller }: S3Call,
  settings: Readonly<Record<string, unknown>>,
  { owner, acl }: Owned,
  headers: Record<string, string> = {},
): Response {
  const user = owner === null ? null : store.accounts.userById(owner);
  const kept = aclsUsageOf(settings) === "none" ? null : acl;
  const grants = shownGrants(store, caller.tenant, kept ?? defaultAcl(user?.guid ?? null));
  const shownOwner = user && { id: user.guid, displayName: user.name };
  return xmlResponse("AccessControlPolicy", aclContent(shownOwner, grants), headers);
}
