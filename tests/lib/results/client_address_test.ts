import assert from "node:assert/strict";
import { clientAddress } from "@/lib/results/client_address.ts";

Deno.test("client address: the entry that our outermost proxy wrote, whatever stands before it", () => {
  const cases: [string | null, string | null, number, string][] = [
    ["6.6.6.6, 1.1.1.1", "p", 1, "1.1.1.1"],
    ["6.6.6.6, 1.1.1.1, 10.0.0.1", "p", 2, "1.1.1.1"],
    ["2001:db8::1", "p", 1, "2001:db8::1"],
    ["1.1.1.1", "p", 2, "p"],
    ["6.6.6.6, 1.1.1.1", "p", 0, "p"],
    ["1.1.1.1, ", "p", 1, "p"],
    ["", "p", 1, "p"],
    [null, "p", 1, "p"],
    [null, null, 1, "unknown"],
    ["x".repeat(10_000), "p", 1, "x".repeat(64)],
  ];
  for (const [header, peer, hops, expected] of cases) {
    assert.equal(clientAddress(header, peer, hops), expected, `${header?.slice(0, 40)} ${hops}`);
  }
});
