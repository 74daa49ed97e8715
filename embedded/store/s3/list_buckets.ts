import { folded } from "@/embedded/store/names.ts";
import { signedUser } from "./permitted.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Call } from "./s3_operation.ts";
import { element, xmlResponse, xmlTime } from "./xml.ts";

/** Most buckets of a page (S3 API, ListBuckets). */
const MAX_BUCKETS = 10_000;

/** ListBuckets: those in which the caller has any permission, in pages where the caller requests them. */
export function listBuckets({ store, caller, request }: S3Call): Response {
  const user = signedUser(caller);
  const prefix = request.parameter("prefix") ?? "";
  const limit = pageSize(request.parameter("max-buckets"));
  const after = lastNameIn(request.parameter("continuation-token"));
  const found = store.buckets.visibleTo(user.id).filter((bucket) =>
    bucket.name.startsWith(prefix) && (after === null || folded(bucket.name) > after)
  );
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const entries = page.map((bucket) =>
    `<Bucket>${element("Name", bucket.name)}${element("CreationDate", xmlTime(bucket.createdMs))}</Bucket>`
  );
  return xmlResponse(
    "ListAllMyBucketsResult",
    `<Owner>${element("ID", user.guid)}${element("DisplayName", user.name)}</Owner><Buckets>${
      entries.join("")
    }</Buckets>` + (found.length > page.length && last ? element("ContinuationToken", btoa(folded(last.name))) : "") +
      (prefix && element("Prefix", prefix)),
  );
}

function pageSize(text: string | null): number {
  if (text === null || text === "") return Infinity;
  if (/^[0-9]{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_BUCKETS) return Number(text);
  throw new S3Error("InvalidArgument", `max-buckets must be a whole number from 1 to ${MAX_BUCKETS}`);
}

/** A token is the last name of the page before, folded, as buckets are sorted. */
function lastNameIn(token: string | null): string | null {
  if (token === null || token === "") return null;
  try {
    return atob(token);
  } catch {
    throw new S3Error("InvalidArgument", "The continuation token is not valid");
  }
}
