import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { type EmbeddedGateway, embeddedTest } from "@/tests/routes/api/v1/mapi/embedded_gateway.ts";
import { type Document, requestsOf } from "@/tests/routes/api/v1/mapi/schema_samples.ts";
import { gatewayTest } from "@/tests/routes/gateway_fixture.ts";

/** What the samples are made of: whoever presses "Execute" on the API page must leave every row as it was. */
const TABLES = ["tenants", "users", "groups", "group_members", "buckets", "grants", "documents", "objects"];

interface Stored {
  readonly tables: readonly string[];
  readonly rows: ReadonlySet<string>;
}

function stored(folder: string): Stored {
  const index = new DatabaseSync(`${folder}/index.db`, { readOnly: true });
  try {
    const tables = index.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all().map(({ name }) =>
      String(name)
    ).filter((name) => TABLES.includes(name));
    const rows = tables.flatMap((table) =>
      index.prepare(`SELECT * FROM ${table}`).all().map((row) =>
        `${table} ${JSON.stringify(row, (_, value) => value instanceof Uint8Array ? [...value] : value)}`
      )
    );
    return { tables, rows: new Set(rows) };
  } finally {
    index.close();
  }
}

async function token({ app }: EmbeddedGateway, username: string): Promise<string> {
  const body = new URLSearchParams({ username, password: SAMPLE_PASSWORD });
  const response = await app.request("/api/v1/auth/token", { method: "POST", body });
  return (await response.json()).access_token;
}

/** Whether the API page fills in a parameter of a query. */
const isFilledIn = ({ required, schema }: { readonly required: boolean; readonly schema: object }) =>
  required || "examples" in schema;

embeddedTest(
  "openapi: executing every operation as its examples stand leaves the samples as they were",
  async (fixture) => {
    const { app, store } = fixture;
    const document: Document = await (await app.request("/openapi.json")).json();
    const before = stored(store.folder);
    assert.ok(before.tables.length >= 6 && before.rows.size > 20, before.tables.join(" "));
    const done: string[] = [];
    for (const username of ["archive/curator", "admin"]) {
      const headers = { Authorization: `Bearer ${await token(fixture, username)}` };
      // The second time meets what the first one made.
      for (const _ of [1, 2]) {
        for (const { id, path, method, body } of requestsOf(document, isFilledIn)) {
          const response = await app.request(path, { method, headers, body });
          await response.body?.cancel();
          if (response.ok && method !== "GET" && method !== "HEAD") done.push(id);
          const { rows } = stored(store.folder);
          for (const row of before.rows) {
            assert.ok(rows.has(row), `${username} ${method} ${path} ${body}: changed ${row}`);
          }
        }
      }
    }
    // The examples go together: what one makes the next can use.
    for (
      const id of ["create_bucket", "create_user_account", "update_user_account", "create_namespace", "create_tenant"]
    ) {
      assert.ok(done.includes(id), `${id} is refused: ${done.join(" ")}`);
    }
  },
);

gatewayTest("openapi: no example grants anything to all users", async ({ app }) => {
  const document = await (await app.request("/openapi.json")).text();
  assert.ok(!document.includes("global/AllUsers"));
});
