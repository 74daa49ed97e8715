import type { Condition, Job } from "./objects.ts";

/** The first condition of a type that holds. */
export function condition({ status }: Pick<Job, "status">, type: string): Condition | undefined {
  return status.conditions?.find((candidate) => candidate.type === type && candidate.status === "True");
}

/** When a Job ended, in milliseconds; null while it has not. */
export function endedAt(job: Job): number | null {
  const ending = condition(job, "Complete") ?? condition(job, "Failed");
  return ending ? Date.parse(ending.lastTransitionTime) : null;
}

/** Indexes as a Job's status writes them: ascending, three or more in a row as a range, such as `0-2,5`. */
export function writeIndexes(indexes: ReadonlySet<number>): string {
  const sorted = [...indexes].sort((a, b) => a - b);
  const ranges: string[] = [];
  for (let start = 0; start < sorted.length;) {
    let end = start;
    while (sorted[end + 1] === sorted[end] + 1) end++;
    // Two neighbours are a list in the real controller, more are a range.
    if (end - start < 2) ranges.push(...sorted.slice(start, end + 1).map(String));
    else ranges.push(`${sorted[start]}-${sorted[end]}`);
    start = end + 1;
  }
  return ranges.join(",");
}

/** Reads what `writeIndexes` wrote. */
export function readIndexes(text: string | undefined): Set<number> {
  const indexes = new Set<number>();
  for (const range of (text ?? "").split(",").filter((part) => part !== "")) {
    const [first, last = first] = range.split("-").map(Number);
    for (let index = first; index <= last; index++) indexes.add(index);
  }
  return indexes;
}
