import { BlockList, isIP } from "node:net";
import { LRUCache } from "lru-cache";

/** Whether requests from an address are allowed. */
type AddressRules = (address: string) => boolean;

/**
 * Reads `ipSettings` (management API), which were checked when they were set. `allowIfInBothLists` decides over
 * addresses that are in both lists or in neither; it also admits every address while the list of denied ones is empty.
 *
 * @param text JSON; null where nothing was set, which admits every address
 */
export function addressRules(text: string | null): AddressRules {
  return text === null ? () => true : cached.memo(text);
}

/** How many different settings are cached in parsed form. */
const CACHE_LIMIT = 50;

const cached = new LRUCache<string, AddressRules>({
  max: CACHE_LIMIT,
  memoMethod: (text) => {
    const { allowAddresses, denyAddresses, allowIfInBothLists }: IpSettings = JSON.parse(text);
    const allowed = blockList(allowAddresses?.ipAddress ?? [EVERY_ADDRESS]);
    const denied = blockList(denyAddresses?.ipAddress ?? []);
    return (address) => {
      const [isAllowed, isDenied] = [allowed, denied].map((list) =>
        list.check(withoutZone(address), familyOf(address))
      );
      return allowIfInBothLists === false ? isAllowed && !isDenied : isAllowed || !isDenied;
    };
  },
});

/** The block that is allowed where nothing else was set. */
export const EVERY_ADDRESS = "0.0.0.0/0";

/** The stored form, with the lists in the wrapping of the management API; an absent list was never set. */
interface IpSettings {
  readonly allowAddresses?: { readonly ipAddress?: readonly string[] };
  readonly denyAddresses?: { readonly ipAddress?: readonly string[] };
  readonly allowIfInBothLists?: boolean;
}

/**
 * The addresses of a rule: one, a CIDR block, or an address with a mask such as `10.0.0.0/255.0.0.0`. Null for any other
 * text, and for a mask with gaps.
 */
export function addressBlock(rule: string): { readonly address: string; readonly prefix: number } | null {
  const [address, mask, ...rest] = rule.trim().split("/");
  const version = isIP(address);
  const bits = version === 4 ? 32 : 128;
  let prefix = bits;
  if (mask !== undefined) prefix = /^\d{1,3}$/.test(mask) ? Number(mask) : isIP(mask) === version ? onesOf(mask) : NaN;
  return version !== 0 && rest.length === 0 && prefix <= bits ? { address, prefix } : null;
}

/** How many ones a mask begins with; NaN where zeros are between them. */
function onesOf(mask: string): number {
  const [groups, radix, width] = mask.includes(":")
    ? [mask.replace(/::[0:]*$/, "").split(":"), 16, 16]
    : [mask.split("."), 10, 8];
  const bits = groups.map((group) => parseInt(group || "0", radix).toString(2).padStart(width, "0")).join("");
  return /^1*0*$/.test(bits) ? bits.replaceAll("0", "").length : NaN;
}

/** Entries are rules, or several of them with commas. The block of all IPv4 addresses matches IPv6 as well. */
function blockList(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const rule of entries.flatMap((entry) => entry.split(","))) {
    const block = addressBlock(rule);
    if (!block) throw new Error(`the address rule ${rule} is not valid: set ipSettings of the namespace again`);
    const family = familyOf(block.address);
    list.addSubnet(withoutZone(block.address), block.prefix, family);
    if (family === "ipv4" && block.prefix === 0) list.addSubnet("::", 0, "ipv6");
  }
  return list;
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return address.includes(":") ? "ipv6" : "ipv4";
}

/** The index of a network interface is no part of the address. */
function withoutZone(address: string): string {
  return address.replace(/%.*$/, "");
}
