/** Figures of a process at one moment. */
export interface Sample {
  /** Since the start, s. */
  readonly at: number;
  /** After a collection of garbage, bytes. */
  readonly heap: number;
  /** bytes */
  readonly resident: number;
  readonly descriptors: number;
}

/** The slope of a line through points by least squares; NaN for fewer than two. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const meanX = mean(points.map(([x]) => x));
  const meanY = mean(points.map(([, y]) => y));
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function descriptors(pid: number): number {
  return [...Deno.readDirSync(`/proc/${pid}/fd`)].length;
}

/** The open descriptors of a process as text: each kind with its count. */
export function descriptorKinds(pid: number): string {
  const kinds = new Map<string, number>();
  for (const { name } of Deno.readDirSync(`/proc/${pid}/fd`)) {
    const kind = kindOf(`/proc/${pid}/fd/${name}`);
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  return [...kinds].map(([kind, count]) => `${kind} ${count}`).join(", ");
}

function kindOf(path: string): string {
  try {
    const target = Deno.readLinkSync(path);
    return /^(?:anon_inode:)?\[?([a-z]+)\]?(?::|$)/.exec(target)?.[1] ?? "file";
  } catch (error) {
    // Closed meanwhile.
    if (error instanceof Deno.errors.NotFound) return "closed";
    throw error;
  }
}
