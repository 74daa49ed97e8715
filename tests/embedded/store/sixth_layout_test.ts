import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { Accounts } from "@/embedded/store/accounts.ts";
import { consoleSecurity } from "@/embedded/store/console_security.ts";
import { Documents } from "@/embedded/store/documents.ts";
import { LAYOUTS, openIndexForWriting } from "@/embedded/store/index.ts";
import { Statements } from "@/embedded/store/statements.ts";

Deno.test("index: a folder of the fifth layout no longer locks accounts by default, and opens locked ones", () => {
  const folder = Deno.makeTempDirSync();
  const old = new DatabaseSync(`${folder}/index.db`);
  old.exec(LAYOUTS.slice(0, 5).join(""));
  old.exec(`
    INSERT INTO tenants (id, name, folded, record, created_ms) VALUES (1, 'T', 't', '{}', 0), (2, 'U', 'u', '{}', 0);
    INSERT INTO users (id, tenant, name, folded, guid, password_md5, record, failed_attempts, locked_ms)
      VALUES (1, 1, 'U', 'u', 'gu', 'm', '{}', 5, 1), (2, 0, 'admin', 'admin', 'ga', 'm', '{}', 5, ${Date.now()});
    INSERT INTO documents VALUES
      (1, 0, 'consoleSecurity', '', '{"minimumPasswordLength":9,"disableAfterAttempts":5}'),
      (2, 0, 'consoleSecurity', '', '{"disableAfterAttempts":3}'),
      (1, 0, 'contactInfo', '', '{"disableAfterAttempts":5}');
    INSERT INTO identity VALUES ('i', 1);
    PRAGMA user_version = 5;
  `);
  old.close();
  const index = openIndexForWriting(folder);
  const statements = new Statements(index);
  const documents = new Documents(statements);
  const rules = [0, 1, 2, 3].map((tenant) => consoleSecurity(documents, tenant));
  assert.deepEqual(rules.map(({ disableAfterAttempts }) => disableAfterAttempts), [0, 0, 3, 0]);
  assert.equal(rules[1].minimumPasswordLength, 9);
  assert.deepEqual(documents.document({ tenant: 1, bucket: 0, kind: "contactInfo" }), { disableAfterAttempts: 5 });
  const accounts = new Accounts(statements);
  for (const user of [accounts.user(1, "u"), accounts.user(0, "admin")]) {
    assert.deepEqual([user?.failedAttempts, user?.lockedMs], [0, null]);
  }
  index.close();
  Deno.removeSync(folder, { recursive: true });
});
