import assert from "node:assert/strict";
import { addressKey, clientAddress } from "@/lib/http/request_context.ts";

Deno.test("client address: the entry that our outermost proxy wrote, whatever stands before it", () => {
  const cases: [string | null, string | null, number, string | null][] = [
    ["6.6.6.6, 1.1.1.1", "9.9.9.9", 1, "1.1.1.1"],
    ["6.6.6.6, 1.1.1.1, 10.0.0.1", "9.9.9.9", 2, "1.1.1.1"],
    ["2001:DB8::1", "9.9.9.9", 1, "2001:db8::1"],
    ["1.1.1.1:4711", "9.9.9.9", 1, "1.1.1.1"],
    ["[2001:db8::1]:4711", "9.9.9.9", 1, "2001:db8::1"],
    ["fe80::1%eth0", "9.9.9.9", 1, "fe80::1"],
    ["::ffff:1.2.3.4", "9.9.9.9", 1, "1.2.3.4"],
    ["1.1.1.1", "9.9.9.9", 2, "9.9.9.9"],
    ["6.6.6.6, 1.1.1.1", "9.9.9.9", 0, "9.9.9.9"],
    ["1.1.1.1, ", "9.9.9.9", 1, "9.9.9.9"],
    ["1.1.1.1, unknown", "9.9.9.9", 1, "9.9.9.9"],
    ["", "9.9.9.9", 1, "9.9.9.9"],
    [null, "9.9.9.9", 1, "9.9.9.9"],
    [null, "::ffff:0909:0909", 0, "9.9.9.9"],
    [null, null, 1, null],
    ["x".repeat(10_000), "9.9.9.9", 1, "9.9.9.9"],
    [":".repeat(100), "9.9.9.9", 1, "9.9.9.9"],
  ];
  for (const [header, peer, hops, expected] of cases) {
    assert.equal(clientAddress(header, peer, hops), expected, `${header?.slice(0, 40)} ${hops}`);
  }
});

Deno.test("client address: IPv6 counts by its /64 in every spelling, IPv4 by itself", () => {
  const key = (text: string) => addressKey(clientAddress(null, text, 0));
  for (const one of ["2001:db8:0:7::1", "2001:0DB8::7:ffff:1:2:3", "2001:db8:0:7:a::", "2001:db8:0:7::1.2.3.4"]) {
    assert.equal(key(one), "2001:db8:0:7::/64", one);
  }
  assert.equal(key("::1"), "0:0:0:0::/64");
  assert.notEqual(key("2001:db8:0:8::1"), key("2001:db8:0:7::1"));
  assert.equal(key("::ffff:1.2.3.4"), "1.2.3.4");
  assert.notEqual(key("1.2.3.4"), key("1.2.3.5"));
  assert.equal(addressKey(null), "unknown");
});
