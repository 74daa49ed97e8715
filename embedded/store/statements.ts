import type { DatabaseSync, StatementSync } from "node:sqlite";

/** A value in our SQLite tables. */
export type Cell = string | number | Uint8Array | null;

/** Statements of one connection, prepared once per text; rows come as arrays in the order of the columns. */
export class Statements {
  readonly #prepared = new Map<string, ArrayStatement>();
  readonly #named = new Map<string, StatementSync>();

  constructor(private readonly index: DatabaseSync) {}

  /** The first row, or null. */
  row(sql: string, ...parameters: Cell[]): Cell[] | null {
    return this.#statement(sql).get(...parameters) ?? null;
  }

  /** The first column of the first row, as text; null for NULL and without a row. */
  text(sql: string, ...parameters: Cell[]): string | null {
    return textOrNull(this.row(sql, ...parameters)?.[0] ?? null);
  }

  /** All rows: for results that are bounded by their statement. */
  rows(sql: string, ...parameters: Cell[]): Cell[][] {
    return this.#statement(sql).all(...parameters);
  }

  /** The first row by the names of its columns, or null. `T` is what the statement selects. */
  record<T>(sql: string, ...parameters: Cell[]): T | null {
    return (this.#statementOfRecords(sql).get(...parameters) as T | undefined) ?? null;
  }

  /** All rows by the names of their columns: twice the cost of {@link rows}. */
  records<T>(sql: string, ...parameters: Cell[]): T[] {
    return this.#statementOfRecords(sql).all(...parameters) as T[];
  }

  /** Rows one by one by the names of their columns; leaving the loop early resets the statement. */
  *eachRecord<T>(sql: string, ...parameters: Cell[]): Generator<T> {
    for (const row of this.#statementOfRecords(sql).iterate(...parameters)) yield row as T;
  }

  /** Rows one by one; leaving the loop early resets the statement. */
  *each(sql: string, ...parameters: Cell[]): Generator<Cell[]> {
    yield* this.#statement(sql).iterate(...parameters);
  }

  /**
   * Runs a change.
   *
   * @returns how many rows it touched, and the last row id that it created
   */
  run(sql: string, ...parameters: Cell[]): { changes: number; id: number } {
    const { changes, lastInsertRowid } = this.#statement(sql).run(...parameters);
    return { changes: Number(changes), id: Number(lastInsertRowid) };
  }

  /** Inserts a row, by the names of its columns. The result is that of {@link run}. */
  insert(
    table: string,
    row: Readonly<Record<string, Cell>>,
    verb: "INSERT" | "INSERT OR REPLACE" = "INSERT",
  ): { changes: number; id: number } {
    const columns = Object.keys(row);
    const sql = `${verb} INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
    return this.run(sql, ...Object.values(row));
  }

  /** Runs several reads on one and the same state of the index; not for a connection within a transaction. */
  snapshot<T>(read: () => T): T {
    this.run("BEGIN");
    try {
      return read();
    } finally {
      this.run("COMMIT");
    }
  }

  #statementOfRecords(sql: string): StatementSync {
    let statement = this.#named.get(sql);
    if (!statement) this.#named.set(sql, statement = this.index.prepare(sql));
    return statement;
  }

  #statement(sql: string): ArrayStatement {
    const prepared = this.#prepared.get(sql);
    if (prepared) return prepared;
    const statement: object = this.index.prepare(sql);
    if (!returnsArrays(statement)) throw new Error("this SQLite cannot return rows as arrays");
    statement.setReturnArrays(true);
    this.#prepared.set(sql, statement);
    return statement;
  }
}

/** A cell that may be null, as text. */
export function textOrNull(cell: Cell): string | null {
  return cell === null ? null : String(cell);
}

/** A cell that may be null, as a number. */
export function numberOrNull(cell: Cell): number | null {
  return cell === null ? null : Number(cell);
}

/** A prepared statement whose rows are arrays: half the cost of objects. The runtime's types do not know it yet. */
interface ArrayStatement {
  get(...parameters: Cell[]): Cell[] | undefined;
  all(...parameters: Cell[]): Cell[][];
  iterate(...parameters: Cell[]): Iterable<Cell[]>;
  run(...parameters: Cell[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  setReturnArrays(enabled: boolean): void;
}

function returnsArrays(statement: object): statement is ArrayStatement {
  return "setReturnArrays" in statement;
}
