const SAMPLE_MS = 10;

/** Clock ticks per second of /proc: 100 on every Linux that user space sees. */
const TICKS_PER_SECOND = 100;

/** Resources that a process used during a measurement. */
export interface Used {
  /** User and system time, in seconds. */
  cpuSeconds: number;
  /** Rise of resident memory, in bytes. */
  rssGrowth: number;
}

/** Runs a measurement and tells what a process used meanwhile; null where its number is not known. */
export async function usedBy<T>(
  pid: number | null,
  measure: () => Promise<T>,
): Promise<{ result: T; used: Used | null }> {
  if (pid === null) return { result: await measure(), used: null };
  const before = { cpu: cpuTimes(pid), rss: residentBytes(pid) };
  let peak = before.rss;
  const sampling = setInterval(() => peak = Math.max(peak, residentBytes(pid)), SAMPLE_MS);
  try {
    const result = await measure();
    peak = Math.max(peak, residentBytes(pid));
    return { result, used: { cpuSeconds: cpuBetween(before.cpu, cpuTimes(pid)), rssGrowth: peak - before.rss } };
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

/** User and system time of a process so far, s, in two ways. */
interface CpuTimes {
  /** To a hundredth of a second, which is a twentieth of what a short measure takes. */
  readonly ofProcess: number;
  /** To the nanosecond, without threads that have ended. */
  readonly ofThreads: number;
}

function cpuTimes(pid: number): CpuTimes {
  let nanoseconds = 0;
  for (const { name } of Deno.readDirSync(`/proc/${pid}/task`)) {
    try {
      nanoseconds += Number(Deno.readTextFileSync(`/proc/${pid}/task/${name}/schedstat`).split(" ")[0]);
    } catch {
      // It has ended, or the system counts nothing for threads.
    }
  }
  return { ofProcess: cpuSeconds(pid), ofThreads: nanoseconds / 1e9 };
}

/** Processor time between two readings, s: of the threads, or of the process if a thread has ended in between. */
function cpuBetween(before: CpuTimes, after: CpuTimes): number {
  const ofProcess = after.ofProcess - before.ofProcess;
  const ofThreads = after.ofThreads - before.ofThreads;
  return ofThreads > 0 && Math.abs(ofProcess - ofThreads) <= 2 / TICKS_PER_SECOND ? ofThreads : ofProcess;
}

/** Bytes that a process has written to disks so far. */
export function writtenBytes(pid: number): number {
  return Number(/^write_bytes: (\d+)$/m.exec(Deno.readTextFileSync(`/proc/${pid}/io`))?.[1]);
}
