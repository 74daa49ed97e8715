import assert from "node:assert/strict";

import { accountKind, accountSentence } from "@/lib/presentation/login_sentences.ts";

Deno.test("login sentences: an account of another tenant or of the system level is not said to have the right password", () => {
  assert.equal(accountSentence(accountKind("Archive/reader", "archive"), "archive"), null);
  const sentence = (name: string) => accountSentence(accountKind(name, "archive"), "archive") ?? "";
  assert.match(
    sentence("research/x"),
    /^The name or the password is wrong, or the account opens no campaigns: .*of the tenant archive only\.$/,
  );
  assert.match(
    sentence("admin"),
    /^No account of the tenant archive has this name and password, .*system level manages/,
  );
});
