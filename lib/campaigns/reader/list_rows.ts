import type { JobSummary, Warmup } from "@/lib/campaigns/projection/types.ts";

/** What a row shows beside its campaign's own objects. */
export interface RowUse {
  readonly warmup: Warmup;
  readonly qualityPrediction: boolean;
}

/** One campaign of a list, and its JSON once somebody asked for it. */
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

/** The rows of one results URL, each for as long as the objects that it is made of are in use. */
export class RowCache {
  readonly #rows = new WeakMap<object, KeptRow>();

  /** The row made of `objects`, which never change, and `use`; `project` makes it where it is another than last time. */
  row(objects: readonly [object, ...object[]], use: RowUse, project: () => JobSummary): ListRow {
    const [first, ...others] = objects;
    const kept = this.#rows.get(first);
    if (kept && isSameUse(kept.use, use) && others.every((other, i) => other === kept.others[i])) return kept.row;
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

interface KeptRow {
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
  const [before, after] = [a.reason, b.reason];
  if (a.phase !== b.phase || !before !== !after) return false;
  return before?.stage === after?.stage && before?.permanent === after?.permanent && before?.error === after?.error;
}
