import assert from "node:assert/strict";

import { closedSideSentence } from "@/lib/presentation/closed_side.ts";

Deno.test("closed side: campaigns that refuse an account say whether its tenant or its password is the reason", () => {
  const sentence = (reason: 401 | "no session", account: string, tenant: string | null) =>
    closedSideSentence({ side: "campaigns", reason }, account, tenant);
  assert.match(sentence(401, "research/bob", "archive"), /open with accounts of the tenant archive\.$/);
  assert.match(sentence(401, "admin", "archive"), /open with accounts of the tenant archive\.$/);
  assert.match(sentence(401, "Archive/bob", "archive"), /do not accept this name and password\.$/);
  assert.match(sentence(401, "key", null), /do not accept this name and password\.$/);
  assert.match(sentence("no session", "research/bob", "archive"), /open with accounts of the tenant archive\.$/);
  assert.match(
    sentence("no session", "archive/bob", "archive"),
    /its session of the campaigns has ended, or there was none\.$/,
  );
});

Deno.test("closed side: a storage that could not check a login is not said to have refused it", () => {
  const sentence = (reason: number | "tenant") => closedSideSentence({ side: "storage", reason }, null, "archive");
  // The page may be that of an earlier login.
  assert.match(sentence(401), /^Your last login opens .* does not accept this name and password\.$/);
  for (const status of [502, 504, 500]) assert.match(sentence(status), /could not check it\. Log in again later\.$/);
  assert.match(sentence(503), /at the moment/);
  assert.match(sentence(429), /in a few minutes\.$/);
  assert.match(sentence("tenant"), /log in as tenant\/name\.$/);
});
