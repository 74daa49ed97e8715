import assert from "node:assert/strict";
import { addressBlock, addressRules } from "@/embedded/store/access.ts";

function rules(allow: string[], deny: string[], allowIfInBothLists: boolean) {
  const settings = { allowAddresses: { ipAddress: allow }, denyAddresses: { ipAddress: deny }, allowIfInBothLists };
  return addressRules(JSON.stringify(settings));
}

Deno.test("address rules: lists decide as in the management API, empty, shared or separate", () => {
  // Addresses in the allow list only, in the deny list only, in both, in neither.
  const asked = ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"];
  const allow = ["10.0.0.1", "10.0.0.3"];
  const deny = ["10.0.0.2", "10.0.0.3"];
  const table: [allow: string[], deny: string[], allowIfInBothLists: boolean, expected: boolean[]][] = [
    [[], [], true, [true, true, true, true]],
    [[], [], false, [false, false, false, false]],
    [allow, [], true, [true, true, true, true]],
    [allow, [], false, [true, false, true, false]],
    [[], deny, true, [true, false, false, true]],
    [[], deny, false, [false, false, false, false]],
    [allow, deny, true, [true, false, true, true]],
    [allow, deny, false, [true, false, false, false]],
  ];
  for (const [allow, deny, both, expected] of table) {
    assert.deepEqual(asked.map(rules(allow, deny, both)), expected, `${allow} | ${deny} | ${both}`);
  }
  assert.deepEqual(asked.map(addressRules(null)), [true, true, true, true]);
});

Deno.test("address rules: entries are addresses, lists with commas, masks and blocks, of either version", () => {
  const holds = (entry: string, address: string) => rules([entry], [], false)(address);
  for (
    const [entry, inside, outside] of [
      ["192.168.100.197/255.255.255.0", "192.168.100.1", "192.168.101.1"],
      ["10.0.0.1, 10.2.0.0/16", "10.2.255.255", "10.3.0.0"],
      ["10.0.0.1", "::ffff:10.0.0.1", "::ffff:10.0.0.2"],
      ["10.0.0.1", "::ffff:a00:1", "::ffff:a00:2"],
      ["::ffff:10.0.0.0/104", "10.9.9.9", "11.0.0.1"],
      ["::ffff:10.0.0.0/ffff:ffff:ffff:ffff:ffff:ffff:ff00:0", "10.9.9.9", "11.0.0.1"],
      ["0:0:0:0:0:ffff:a00:0/112", "10.0.255.1", "10.1.0.1"],
      ["2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1"],
      ["::1", "0:0:0:0:0:0:0:1", "::2"],
      ["fe80::/10", "fe80::1%eth0", "fec0::1"],
      ["64:ff9b::1.2.3.4", "64:ff9b::102:304", "64:ff9b::102:305"],
      ["::/0", "2001:db8::1", "10.0.0.1"],
      ["::/0", "::1", "::ffff:10.0.0.1"],
    ]
  ) {
    assert.deepEqual([holds(entry, inside), holds(entry, outside)], [true, false], entry);
  }
  // The default lets everybody in, whatever the version of the address.
  assert.ok(holds("0.0.0.0/0", "::1") && holds("0.0.0.0/0", "127.0.0.1"));
});

Deno.test("address rules: masks have their ones in front", () => {
  const prefix = (mask: string) => addressBlock(`${mask.includes(":") ? "::" : "10.0.0.0"}/${mask}`)?.prefix;
  const masks = ["255.254.0.0", "0.0.0.0", "255.0.255.0", "ffff:fe00::", "::", "ffff::1", "ffff:0:ffff::", "33", "1.2"];
  const isMask = [15, 0, undefined, 23, 0, undefined, undefined, undefined, undefined];
  assert.deepEqual(masks.map(prefix), isMask);
});
