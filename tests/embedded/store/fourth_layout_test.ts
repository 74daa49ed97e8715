import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { Accounts } from "@/embedded/store/accounts.ts";
import { Buckets } from "@/embedded/store/buckets.ts";
import { LAYOUTS, openIndexForWriting } from "@/embedded/store/index.ts";
import { Statements } from "@/embedded/store/statements.ts";
import { UsageHistory } from "@/embedded/store/usage_history.ts";

Deno.test("index: a folder of the third layout gets the sums of its parts, and its users stay unlocked", () => {
  const folder = Deno.makeTempDirSync();
  const old = new DatabaseSync(`${folder}/index.db`);
  old.exec(LAYOUTS.slice(0, 3).join(""));
  const parts = (count: number) =>
    JSON.stringify({
      upload: "u",
      parts: Array.from({ length: count }, (_, i) => ({ file: `f${count}-${i}`, size: 5 })),
    });
  old.exec(`
    INSERT INTO tenants (id, name, folded, record, created_ms) VALUES (1, 'T', 't', '{}', 0);
    INSERT INTO users (id, tenant, name, folded, guid, password_md5, record) VALUES (1, 1, 'U', 'u', 'gu', 'm', '{}');
    INSERT INTO buckets (id, tenant, name, folded, guid, owner, versioning, record, created_ms, stored_bytes, stored_count, part_bytes)
      VALUES (1, 1, 'B', 'b', 'gb', 1, 'enabled', '{}', 0, 26, 3, 7);
    INSERT INTO objects (bucket, key, seq, is_null, size, etag, modified_ms, content_type, parts)
      VALUES (1, x'61', 2, 0, 15, '', 0, '', '${parts(3)}'), (1, x'62', 1, 0, 1, '', 0, '', NULL);
    INSERT INTO history (bucket, key, seq, is_null, is_marker, size, etag, modified_ms, content_type, parts)
      VALUES (1, x'61', 1, 0, 0, 10, '', 0, '', '${parts(2)}');
    INSERT INTO uploads (id, bucket, key, content_type, started_ms) VALUES ('x', 1, x'63', '', 0);
    INSERT INTO parts (upload, number, size, etag, modified_ms) VALUES ('x', 1, 7, '', 0);
    PRAGMA user_version = 3;
  `);
  old.close();
  const index = openIndexForWriting(folder);
  const statements = new Statements(index);
  const hour = Math.floor(Date.now() / 3_600_000);
  const [used] = new UsageHistory(statements).during(1, 1, [{ first: 0, last: hour + 1 }]);
  assert.deepEqual([used.objectCount, used.objectBytes, used.partBytes, used.writes], [3, 26, 7, 0]);
  assert.deepEqual([used.multipartObjects, used.multipartObjectParts, used.multipartObjectBytes], [2, 5, 25]);
  assert.deepEqual([used.uploads, used.uploadParts], [1, 1]);
  const bucket = new Buckets(statements).bucket(1, "B");
  assert.deepEqual([bucket?.allowed, bucket?.s3Access], [-1, "all"]);
  const user = new Accounts(statements).user(1, "u");
  assert.deepEqual([user?.failedAttempts, user?.lockedMs], [0, null]);
  index.close();
  Deno.removeSync(folder, { recursive: true });
});
