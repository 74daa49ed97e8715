import assert from "node:assert/strict";

import { accountKind, accountSentence, loginMomentSentence } from "@/lib/presentation/login_sentences.ts";

const NOW = Date.UTC(2026, 10, 23, 13, 5);

Deno.test("login sentences: a wait is a span without the reader's zone, and a clock time with it", () => {
  const locked = { kind: "locked", at: NOW + 40_000 } as const;
  assert.equal(loginMomentSentence(locked, NOW, null), "Too many attempts. Try again in 40 seconds.");
  assert.equal(loginMomentSentence(locked, NOW, "Europe/Stockholm"), "Too many attempts. Try again at 14:05:40.");
  const longer = { kind: "locked", at: NOW + 160_000 } as const;
  assert.equal(loginMomentSentence(longer, NOW, null), "Too many attempts. Try again in 2 min 40 s.");
  for (const zone of [null, "UTC"]) {
    assert.match(loginMomentSentence(locked, NOW + 40_000, zone), /You can try again now\.$/);
  }
});

Deno.test("login sentences: the end of a session is an age, or a clock time with its day where that is not today", () => {
  const ended = { kind: "ended", at: NOW - 180_000 } as const;
  assert.equal(loginMomentSentence(ended, NOW, null), "Your session ended 3 min ago. Log in again.");
  assert.equal(loginMomentSentence(ended, NOW, "Europe/Stockholm"), "Your session ended at 14:02. Log in again.");
  const yesterday = { kind: "ended", at: NOW - 86_400_000 } as const;
  assert.equal(loginMomentSentence(yesterday, NOW, "UTC"), "Your session ended at 22 Nov, 13:05. Log in again.");
});

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
