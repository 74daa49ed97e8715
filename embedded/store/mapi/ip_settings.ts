import { isIP } from "node:net";
import { z } from "zod";
import { EVERY_ADDRESS } from "@/embedded/store/address_rules.ts";
import { boolean, listed, members, rule } from "./body_schema.ts";

/** Most entries of one list. */
const MAX_ADDRESSES = 1000;

/** Characters of one entry. */
const MAX_ENTRY_LENGTH = 1000;

const ENTRY = "must be an address, an address/mask or a CIDR block, or several with commas";

const addresses = listed(
  "ipAddress",
  z.string(rule(ENTRY)).refine(
    (entry) => entry.length <= MAX_ENTRY_LENGTH && entry.split(",").every((one) => isAddressRule(one.trim())),
    ENTRY,
  ),
  MAX_ADDRESSES,
).transform((ipAddress) => ({ ipAddress }));

/** Address rules. */
export const ipSettings = members({
  allowAddresses: addresses,
  denyAddresses: addresses,
  allowIfInBothLists: boolean,
});

/** Every address may come in. */
export const IP_SETTINGS = {
  allowAddresses: { ipAddress: [EVERY_ADDRESS] },
  denyAddresses: { ipAddress: [] },
  allowIfInBothLists: true,
};

function isAddressRule(rule: string): boolean {
  const [address, mask, ...rest] = rule.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  if (mask === undefined) return true;
  return /^\d{1,3}$/.test(mask) ? Number(mask) <= (version === 4 ? 32 : 128) : isIP(mask) === version;
}
