import assert from "node:assert/strict";
import { EVENT, notificationEvent } from "@/lib/operations/notifications/event.ts";

const FACT = {
  type: "campaign.ended",
  identity: ["a", "b"],
  at: Date.UTC(2026, 0, 2, 3, 4, 5),
  subject: "A subject",
  summary: "A summary.",
  data: { name: "a", count: 3, ended: true, free: null },
} as const;

Deno.test("notification event: the same fact has the same id, and another one does not", () => {
  const { id } = notificationEvent(FACT);
  assert.match(id, /^evt_[0-9a-f]{32}$/);
  assert.equal(notificationEvent({ ...FACT, at: 0, subject: "other words" }).id, id);
  assert.notEqual(notificationEvent({ ...FACT, identity: ["ab"] }).id, id);
  assert.notEqual(notificationEvent({ ...FACT, type: "campaign.trouble" }).id, id);
});

Deno.test("notification event: hostile names become one bounded line without controls", () => {
  const hostile = `x\r\nBcc: all@example.org\u0000\u202e\u2028${"\ud800"}${"å".repeat(100_000)}`;
  const data = { name: hostile, ...Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`m${n}`, n])) };
  const event = notificationEvent({ ...FACT, subject: hostile, summary: hostile, link: `https://e/${hostile}`, data });
  for (const text of [event.subject, event.summary, String(event.data.name)]) {
    assert.doesNotMatch(text, /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    assert.match(text, /^x Bcc: all@example\.org å/);
    assert.match(text, /…$/);
  }
  assert.equal(event.link, null);
  assert.ok(JSON.stringify(event).length < 4096);
});

Deno.test("notification event: one of a queue is read back, and anything else is none", () => {
  const event = notificationEvent({ ...FACT, link: "https://site.example.org/?q=a" });
  assert.deepEqual(EVENT.parse(JSON.parse(JSON.stringify(event))), event);
  const bad = [
    null,
    [],
    { ...event, id: "evt_1.2" },
    { ...event, type: "other" },
    { ...event, link: "javascript:alert(1)" },
    { ...event, data: { deep: { er: 1 } } },
    { ...event, data: Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`m${n}`, n])) },
  ];
  for (const value of bad) assert.ok(!EVENT.safeParse(value).success, JSON.stringify(value));
  assert.equal(EVENT.parse({ ...event, subject: "a\r\nb" }).subject, "a b");
});
