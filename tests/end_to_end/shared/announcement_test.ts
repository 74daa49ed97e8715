import assert from "node:assert/strict";
import { servedDocument } from "@/tests/docs/openapi_document.ts";
import { sharedApplication } from "./applications.ts";

Deno.test("start: says the site, the API page, the logins and the data folder, and the API's document is the golden one", async () => {
  const application = await sharedApplication();
  const document = await (await fetch(`${application.site}openapi.json`)).json();
  const output = application.output();
  assert.match(output, /^Site\s+http:\/\/127\.0\.0\.1:\d+\/$/m);
  assert.match(output, /^API\s+http:\/\/127\.0\.0\.1:\d+\/docs$/m);
  for (const login of ["archive/curator", "archive/reader", "research/researcher", "admin"]) {
    assert.ok(output.includes(login), login);
  }
  assert.ok(output.includes(application.dataFolder));
  assert.deepEqual(document, await servedDocument());
});
