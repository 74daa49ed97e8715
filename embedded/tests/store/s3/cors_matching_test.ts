import assert from "node:assert/strict";
import fc from "fast-check";
import { type CorsRule, matchingCorsRule, requestedHeaders } from "@/embedded/store/s3/cors.ts";

/** Whether a text is a pattern's, by trying every text that its star could stand for. */
function isOf(pattern: string, text: string): boolean {
  if (!pattern.includes("*")) return pattern === text;
  const [before, after] = pattern.split("*");
  for (let from = 0; from <= text.length; from++) {
    for (let to = from; to <= text.length; to++) {
      if (before + text.slice(from, to) + after === text) return true;
    }
  }
  return false;
}

const word = fc.string({ unit: fc.constantFrom("a", "B", ".", "-"), maxLength: 4 });
const pattern = fc.oneof(
  word,
  fc.constant("*"),
  fc.tuple(word, word).map(([before, after]) => `${before}*${after}`),
);
const method = fc.constantFrom("GET", "PUT", "HEAD");
const rule: fc.Arbitrary<CorsRule> = fc.record({
  id: fc.constant(null),
  origins: fc.array(pattern, { minLength: 1, maxLength: 3 }),
  methods: fc.array(method, { minLength: 1, maxLength: 2 }),
  allowedHeaders: fc.array(pattern, { maxLength: 3 }),
  exposedHeaders: fc.constant([]),
  maxAgeSeconds: fc.constant(null),
});

Deno.test("CORS matching: the first rule that allows origin, method and every header, like trying all", () => {
  fc.assert(
    fc.property(
      fc.array(rule, { maxLength: 4 }),
      word,
      method,
      fc.array(word, { maxLength: 2 }),
      (rules, origin, asked, headers) => {
        const expected =
          rules.find((one) =>
            one.origins.some((allowed) => isOf(allowed, origin)) && one.methods.includes(asked) &&
            headers.every((header) =>
              one.allowedHeaders.some((allowed) => isOf(allowed.toLowerCase(), header.toLowerCase()))
            )
          ) ?? null;
        const found = matchingCorsRule(rules, { origin, method: asked, headers });
        assert.equal(found?.rule ?? null, expected);
        if (found) assert.equal(found.isForAll, found.rule.origins.find((allowed) => isOf(allowed, origin)) === "*");
      },
    ),
    { numRuns: 2000 },
  );
});

Deno.test("CORS matching: the names of Access-Control-Request-Headers are read loosely", () => {
  assert.deepEqual(requestedHeaders(null), []);
  assert.deepEqual(requestedHeaders(" Content-Type ,x-amz-date,, "), ["Content-Type", "x-amz-date"]);
});
