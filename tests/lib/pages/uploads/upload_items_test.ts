import fc from "fast-check";
import assert from "node:assert/strict";
import { MAX_OBJECT_BYTES, partSpan, planParts, SINGLE_PUT_BYTES } from "@/lib/pages/uploads/upload_items_client.ts";

const MIB = 1024 * 1024;
/** S3 API, multipart upload limits. */
const [LEAST_PART, MOST_PART, MOST_PARTS] = [5 * MIB, 5 * 1024 * MIB, 10_000];

Deno.test("upload plan: parts have 16 MiB, of the largest files more", () => {
  const fileBytes = SINGLE_PUT_BYTES + 1;
  assert.deepEqual(planParts(fileBytes), { fileBytes, partBytes: 16 * MIB, parts: 1 });
  assert.equal(planParts(5 * 1024 * MIB).parts, 320);
  assert.equal(planParts(MAX_OBJECT_BYTES).partBytes, 525 * MIB);
});

Deno.test("upload plan: the parts are the file, byte for byte, within the store's limits", () => {
  const anySize = fc.oneof(
    fc.integer({ min: SINGLE_PUT_BYTES + 1, max: 4096 * MIB }),
    fc.maxSafeInteger().map((n) => SINGLE_PUT_BYTES + 1 + Math.abs(n) % (MAX_OBJECT_BYTES - SINGLE_PUT_BYTES)),
  );
  fc.assert(fc.property(anySize, (bytes) => {
    const plan = planParts(bytes);
    assert.ok(plan.parts >= 1 && plan.parts <= MOST_PARTS);
    let at = 0;
    for (let number = 1; number <= plan.parts; number++) {
      const { start, end } = partSpan(plan, number);
      assert.equal(start, at);
      assert.ok(end > start && end - start <= MOST_PART);
      if (number < plan.parts) assert.ok(end - start >= LEAST_PART);
      at = end;
    }
    assert.equal(at, bytes);
  }));
});
