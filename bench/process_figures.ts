const SAMPLE_MS = 10;

/** Clock ticks per second of /proc: 100 on every Linux that user space sees. */
const TICKS_PER_SECOND = 100;

/** What a process used while something was measured. */
export interface Used {
  /** User and system time, in seconds. */
  cpuSeconds: number;
  /** How far resident memory rose above where it was, in bytes. */
  rssGrowth: number;
}

/** Runs a measurement and tells what a process used meanwhile; null where its number is not known. */
export async function usedBy<T>(
  pid: number | null,
  measure: () => Promise<T>,
): Promise<{ result: T; used: Used | null }> {
  if (pid === null) return { result: await measure(), used: null };
  const before = { cpu: cpuSeconds(pid), rss: residentBytes(pid) };
  let peak = before.rss;
  const sampling = setInterval(() => peak = Math.max(peak, residentBytes(pid)), SAMPLE_MS);
  try {
    const result = await measure();
    peak = Math.max(peak, residentBytes(pid));
    return { result, used: { cpuSeconds: cpuSeconds(pid) - before.cpu, rssGrowth: peak - before.rss } };
  } finally {
    clearInterval(sampling);
  }
}

/** Resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

/** User and system time of a process so far, in seconds. */
export function cpuSeconds(pid: number): number {
  // The name in parentheses may hold spaces: fields are counted from behind it.
  const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).replace(/^.*\) /s, "").split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** What a process has caused to be written to a disk so far, in bytes. */
export function writtenBytes(pid: number): number {
  return Number(/^write_bytes: (\d+)$/m.exec(Deno.readTextFileSync(`/proc/${pid}/io`))?.[1]);
}
