import { hasDotSegment, type RawTarget } from "@/lib/http/raw_path.ts";

/** Where pages of the browser reach the gateway's operations. */
export const DOOR_PATH = "/storage/api/";

/** Operations of objects and buckets, and the audit trail; those that would show keys or tokens, or manage accounts, are left out. */
const OPEN_ROOTS: ReadonlySet<string> = new Set(["audit", "buckets", "presign"]);
const PLACEHOLDER = /^:(bucket|key|task_id)$/;
const WORD = /^[a-z][a-z0-9_-]*$/;
/** Parameters that are the door's own. */
const OWN = ["account", "as", "bucket", "key", "task_id"];
/** Tasks on objects, whose ids follow, and those on a bucket beside them. */
const OBJECT_TASKS: ReadonlySet<string> = new Set(["delete-task", "download", "s3_stats"]);
const TASKS: ReadonlySet<string> = new Set([...OBJECT_TASKS, "fixity", "transfer"]);
/** What may follow `objects` beside a key; any other word would be read as the key of an object. */
const OBJECT_WORDS: ReadonlySet<string> = new Set([...OBJECT_TASKS, ":key", "delete", "folder", "presign"]);

/**
 * The gateway's target that an address of the door means; null for one that it does not open.
 *
 * The path of the address is that of the operation below `/api/v1` with its placeholders, such as
 * `/storage/api/buckets/:bucket/objects/:key`, and the query holds their values. Browsers change paths that hold `.`,
 * `..` and empty segments, but no query, so that every key arrives as it is.
 */
export function gatewayTarget({ path, query }: RawTarget): RawTarget | null {
  const parameters = new URLSearchParams(query);
  const segments = path.slice(DOOR_PATH.length).split("/");
  if (!OPEN_ROOTS.has(segments[0]) || (segments.length > 1 && segments[1] !== ":bucket")) return null;
  const written: string[] = [];
  for (const [index, segment] of segments.entries()) {
    const before = segments[index - 1];
    if (before === "objects" && !OBJECT_WORDS.has(segment)) return null;
    if (segment === ":task_id" && !TASKS.has(before)) return null;
    const name = PLACEHOLDER.exec(segment)?.[1];
    const value = name === undefined ? segment : parameters.get(name);
    if (value === null || value === "" || (name === undefined && !WORD.test(segment))) return null;
    // A bucket's name and the id of a task are segments of their own, which dots would remove.
    if (name !== "key" && hasDotSegment(`/${value}`)) return null;
    written.push(encodeURIComponent(value));
  }
  for (const name of OWN) parameters.delete(name);
  // A key may end in a word that is reserved in paths.
  if (path.endsWith("/objects/:key")) parameters.set("as", "object");
  return { path: `/api/v1/${written.join("/")}`, query: parameters.toString() };
}
