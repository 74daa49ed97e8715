import { createHash } from "node:crypto";
import { Statements } from "@/embedded/store/statements.ts";
import { openIndexForWriting } from "@/embedded/store/index.ts";

/** Objects of one size under a prefix; their keys are those of {@link keyOf}. */
export interface Filled {
  readonly prefix: string;
  readonly objects: number;
  readonly bodyBytes: number;
}

const ROWS_A_COMMIT = 10_000;
const KEYS_A_FOLDER = 10;

/** The key of an object under a prefix: ten in each folder. */
export function keyOf(prefix: string, n: number): string {
  return `${prefix}${String(Math.floor(n / KEYS_A_FOLDER)).padStart(6, "0")}/${n % KEYS_A_FOLDER}.xml`;
}

/** Puts objects of zeros straight into the index of a store that does not run: through S3 it would take minutes. */
export function fillIndex(folder: string, bucket: string, fills: readonly Filled[]): void {
  const index = openIndexForWriting(folder);
  const statements = new Statements(index);
  for (const { prefix, objects, bodyBytes } of fills) {
    const etag = createHash("md5").update(new Uint8Array(bodyBytes)).digest("hex");
    for (let at = 0; at < objects; at += ROWS_A_COMMIT) {
      const rows = Math.min(ROWS_A_COMMIT, objects - at);
      const first = Number(statements.row("SELECT coalesce(max(id), 0) + 1 FROM bodies")?.[0]);
      statements.run("BEGIN");
      statements.run(
        `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1 - 1)
         INSERT INTO bodies (id, data) SELECT ?2 + n, zeroblob(?3) FROM numbers`,
        rows,
        first,
        bodyBytes,
      );
      statements.run(
        `INSERT INTO objects (bucket, key, seq, is_null, size, etag, modified_ms, content_type, owner, body)
         SELECT buckets.id, CAST(?1 || printf('%06d/%d.xml', (?2 + bodies.id - ?3) / ${KEYS_A_FOLDER},
           (?2 + bodies.id - ?3) % ${KEYS_A_FOLDER}) AS BLOB), 1700000000000000, 1, ?4, ?5, 1700000000000,
           'application/xml', buckets.owner, bodies.id
         FROM buckets, bodies WHERE buckets.name = ?6 AND bodies.id >= ?3 ORDER BY bodies.id`,
        prefix,
        at,
        first,
        bodyBytes,
        etag,
        bucket,
      );
      statements.run(
        "UPDATE buckets SET stored_count = stored_count + ?1, stored_bytes = stored_bytes + ?1 * ?2 WHERE name = ?3",
        rows,
        bodyBytes,
        bucket,
      );
      statements.run(
        "UPDATE tenants SET used_bytes = used_bytes + ?1 WHERE id = (SELECT tenant FROM buckets WHERE name = ?2)",
        rows * bodyBytes,
        bucket,
      );
      statements.run("COMMIT");
    }
  }
  index.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  index.close();
}
