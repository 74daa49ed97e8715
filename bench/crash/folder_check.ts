import assert from "node:assert/strict";
import { BODY_FOLDER } from "@/embedded/store/bodies.ts";
import { openIndexForReading } from "@/embedded/store/index.ts";
import { Statements } from "@/embedded/store/statements.ts";

/**
 * Checks a data folder after a start, before anything is written: the index is whole, every file of a body is named by
 * a row and every row's file is there, nothing waits to be removed, and the counters of the buckets are right. Throws an
 * assertion error.
 */
export function checkFolder(folder: string): { files: number } {
  const index = openIndexForReading(folder);
  try {
    const statements = new Statements(index);
    assert.deepEqual(statements.rows("PRAGMA integrity_check"), [["ok"]]);
    assert.deepEqual(statements.rows("SELECT file FROM garbage"), [], "files that wait to be removed");
    const named = statements.rows(
      `SELECT file FROM objects WHERE file IS NOT NULL UNION SELECT file FROM history WHERE file IS NOT NULL
       UNION SELECT file FROM parts WHERE file IS NOT NULL UNION SELECT file FROM part_bodies`,
    ).map(([file]) => String(file));
    const files = bodyFiles(folder);
    assert.deepEqual(files.sort(), named.sort(), "the files of bodies are those that rows name");
    assert.deepEqual(bodyRows(statements), [], "rows of small bodies that nothing names, or names that have none");
    const wrong = statements.rows(
      `SELECT name, stored_count, stored_bytes, count(versions.size), total(versions.size) FROM buckets LEFT JOIN (
         SELECT bucket, size FROM objects UNION ALL SELECT bucket, size FROM history WHERE is_marker = 0
       ) AS versions ON versions.bucket = buckets.id GROUP BY buckets.id
       HAVING stored_count <> count(versions.size) OR stored_bytes <> total(versions.size)`,
    );
    assert.deepEqual(wrong, [], "buckets whose counters are wrong");
    return { files: files.length };
  } finally {
    index.close();
  }
}

function bodyRows(statements: Statements): unknown[] {
  const named = `SELECT body FROM objects WHERE body IS NOT NULL UNION SELECT body FROM history WHERE body IS NOT NULL
    UNION SELECT body FROM parts WHERE body IS NOT NULL
    UNION SELECT json_extract(part.value, '$.body') FROM
      (SELECT parts FROM objects WHERE parts IS NOT NULL UNION ALL SELECT parts FROM history WHERE parts IS NOT NULL)
      AS made, json_each(made.parts, '$.parts') AS part WHERE json_extract(part.value, '$.body') IS NOT NULL`;
  return [
    ...statements.rows(`SELECT id FROM bodies EXCEPT SELECT * FROM (${named})`),
    ...statements.rows(`SELECT * FROM (${named}) EXCEPT SELECT id FROM bodies`),
  ];
}

function bodyFiles(folder: string): string[] {
  return [...Deno.readDirSync(`${folder}/${BODY_FOLDER}`)].flatMap((hour) =>
    [...Deno.readDirSync(`${folder}/${BODY_FOLDER}/${hour.name}`)].map(({ name }) =>
      `${BODY_FOLDER}/${hour.name}/${name}`
    )
  );
}
