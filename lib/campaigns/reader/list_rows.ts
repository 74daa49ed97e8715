import type { JobSummary, Warmup } from "@/lib/campaigns/projection/types.ts";

/** The content of a row that does not come from its campaign's own objects. */
export interface RowUse {
  readonly warmup: Warmup;
  readonly qualityPrediction: boolean;
}

/** One campaign of a list; its JSON is computed on first access. */
export class ListRow {
  #json: Uint8Array | null = null;

  constructor(readonly summary: JobSummary) {}

  get createdAt(): string | null {
    return this.summary.createdAt;
  }

  get json(): Uint8Array {
    return this.#json ??= encoder.encode(JSON.stringify(this.summary));
  }
}

/** The rows of one results URL, each cached as long as its source objects exist. */
export class RowCache {
  readonly #rows = new WeakMap<object, CachedRow>();

  /** The row of `objects`, which are immutable, and `use`; `project` creates it unless the cached one has the same. */
  row(objects: readonly [object, ...object[]], use: RowUse, project: () => JobSummary): ListRow {
    const [first, ...others] = objects;
    const cached = this.#rows.get(first);
    if (cached && isSameUse(cached.use, use) && others.every((other, i) => other === cached.others[i])) {
      return cached.row;
    }
    const row = new ListRow(project());
    this.#rows.set(first, { others, use, row });
    return row;
  }
}

/** The JSON array of rows. */
export function joinedJson(rows: readonly ListRow[]): Uint8Array<ArrayBuffer> {
  let length = 1 + Math.max(1, rows.length);
  for (const { json } of rows) length += json.length;
  const joined = new Uint8Array(length);
  let end = 0;
  joined[end++] = OPEN;
  for (const { json } of rows) {
    if (end > 1) joined[end++] = COMMA;
    joined.set(json, end);
    end += json.length;
  }
  joined[end] = CLOSE;
  return joined;
}

interface CachedRow {
  readonly others: readonly object[];
  readonly use: RowUse;
  readonly row: ListRow;
}

const encoder = new TextEncoder();
const [OPEN, COMMA, CLOSE] = [0x5b, 0x2c, 0x5d];

function isSameUse(a: RowUse, b: RowUse): boolean {
  return a.qualityPrediction === b.qualityPrediction && isSameWarmup(a.warmup, b.warmup);
}

function isSameWarmup(a: Warmup, b: Warmup): boolean {
  if (a === b) return true;
  const said = ({ phase, reason, containerWaiting }: Warmup) => [
    phase,
    reason?.stage,
    reason?.permanent,
    reason?.error,
    containerWaiting?.reason,
    containerWaiting?.message,
  ];
  const after = said(b);
  return said(a).every((value, place) => value === after[place]);
}
