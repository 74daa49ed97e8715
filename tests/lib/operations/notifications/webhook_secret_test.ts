import assert from "node:assert/strict";
import { parseWebhookSecrets, webhookSignature } from "@/lib/operations/notifications/webhook.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

Deno.test("webhook secret: a signature is that of the specification's example", () => {
  const secrets = parseWebhookSecrets(SECRET) ?? [];
  const body = '{"test": 2432232314}';
  assert.equal(
    webhookSignature(secrets, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body),
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  );
});

Deno.test("webhook secret: two secrets sign side by side, the newer one first", () => {
  const other = `whsec_${btoa("x".repeat(32))}`;
  const both = parseWebhookSecrets(`${other}\n${SECRET}\n`) ?? [];
  const [first, second] = webhookSignature(both, "a", 1, "{}").split(" ");
  assert.equal(first, webhookSignature(parseWebhookSecrets(other) ?? [], "a", 1, "{}"));
  assert.equal(second, webhookSignature(parseWebhookSecrets(SECRET) ?? [], "a", 1, "{}"));
});

Deno.test("webhook secret: what is too short, too long, not base64, unmarked or one of three is none", () => {
  const bad = [
    "",
    "whsec_",
    SECRET.slice(6),
    `whsec_${btoa("x".repeat(23))}`,
    `whsec_${btoa("x".repeat(65))}`,
    `${SECRET}!`,
    `${SECRET} ${SECRET} ${SECRET}`,
    `${SECRET} other`,
  ];
  for (const text of bad) assert.equal(parseWebhookSecrets(text), null, text);
});
