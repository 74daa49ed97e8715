/**
 * The path of a bucket's fixity checks below `/api/v1`, or of one of them; null for names that cannot be a segment of a path:
 * it would be another path.
 */
export function checksPath(bucket: string, task?: string): string | null {
  const names = task === undefined ? [bucket] : [bucket, task];
  if (names.some((name) => /^\.{0,2}$/.test(name))) return null;
  return ["/buckets", encodeURIComponent(bucket), "fixity", ...task === undefined ? [] : [encodeURIComponent(task)]]
    .join("/");
}
