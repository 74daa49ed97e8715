import assert from "node:assert/strict";
import { servedDocument } from "@/tests/docs/openapi_document.ts";

/** Operations that a client changes something with, and that have no record. */
const NOT_RECORDED: Readonly<Record<string, string>> = {
  login: "it proves nothing; the first use of its token is the login",
  start_count: "it reads",
  create_multipart_upload: "nothing can be read before its completion, which is recorded",
  upload_part: "as the upload that it belongs to",
  abort_multipart_upload: "nothing could be read before",
};

interface Described {
  readonly operationId: string;
  readonly "x-audit-action"?: string;
}

async function operations(): Promise<(Described & { readonly method: string })[]> {
  const { paths } = await servedDocument() as { paths: Record<string, Record<string, Described>> };
  return Object.values(paths).flatMap((path) => Object.entries(path).map(([method, one]) => ({ method, ...one })));
}

Deno.test("audited operations: each that changes something is recorded, or is named with its reason", async () => {
  const changing = (await operations()).filter(({ method }) => ["put", "post", "delete"].includes(method));
  assert.ok(changing.length > 70, String(changing.length));
  const silent = changing.filter((one) => one["x-audit-action"] === undefined).map(({ operationId }) => operationId);
  assert.deepEqual(silent.sort(), Object.keys(NOT_RECORDED).sort());
});

Deno.test("audited operations: of those that read, only the export of the trail is recorded", async () => {
  const reading = (await operations()).filter(({ method }) => ["get", "head"].includes(method));
  const recorded = reading.filter((one) => one["x-audit-action"] !== undefined).map(({ operationId }) => operationId);
  assert.deepEqual(recorded, ["list_audit_records"]);
});
