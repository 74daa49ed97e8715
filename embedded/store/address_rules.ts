import { isIP } from "node:net";
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
  if (text === null) return everyAddress;
  const cached = CACHE.get(text);
  if (cached) return cached;
  const { allowAddresses, denyAddresses, allowIfInBothLists }: IpSettings = JSON.parse(text);
  const allowed = ranges(allowAddresses?.ipAddress ?? [EVERY_ADDRESS]);
  const denied = ranges(denyAddresses?.ipAddress ?? []);
  const rules = (address: string) => {
    const one = parsedAddress(address);
    const [isAllowed, isDenied] = [allowed, denied].map((list) => list.some((range) => holds(range, one)));
    return allowIfInBothLists === false ? isAllowed && !isDenied : isAllowed || !isDenied;
  };
  CACHE.set(text, rules);
  return rules;
}

/** The block that is allowed where nothing else was set. */
export const EVERY_ADDRESS = "0.0.0.0/0";

/** The stored form, with the lists in the wrapping of the management API; an absent list was never set. */
interface IpSettings {
  readonly allowAddresses?: { readonly ipAddress?: readonly string[] };
  readonly denyAddresses?: { readonly ipAddress?: readonly string[] };
  readonly allowIfInBothLists?: boolean;
}

interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

/** The addresses that are equal where the mask has ones. */
interface Range extends Address {
  readonly mask: bigint;
}

/** How many different settings are cached in parsed form. */
const CACHE_LIMIT = 50;

const CACHE = new LRUCache<string, AddressRules>({ max: CACHE_LIMIT });

const everyAddress = () => true;

/** Entries are such as `10.0.0.1, 10.1.0.0/16` or `10.0.0.0/255.0.0.0`. */
function ranges(entries: readonly string[]): Range[] {
  return entries.flatMap((entry) => entry.split(",")).map((entry) => {
    const [text, mask] = entry.trim().split("/");
    const address = numberOf(text);
    const all = (1n << BigInt(address.bits)) - 1n;
    return asIpv4({ ...address, mask: mask === undefined ? all : maskOf(mask, all) });
  });
}

function maskOf(mask: string, all: bigint): bigint {
  return isIP(mask) === 0 ? all ^ (all >> BigInt(mask)) : numberOf(mask).value;
}

/** The block of all IPv4 addresses matches every address, also IPv6. */
function holds(range: Range, { bits, value }: Address): boolean {
  if (range.bits === 32 && range.mask === 0n) return true;
  return range.bits === bits && (value & range.mask) === (range.value & range.mask);
}

function parsedAddress(text: string): Address {
  return asIpv4({ ...numberOf(text), mask: MAPPED_MASK });
}

const LOW = 0xffff_ffffn;
/** Where IPv4 addresses are among those of IPv6 (RFC 4291, section 2.5.5.2). */
const MAPPED = 0xffffn << 32n;
const MAPPED_MASK = ((1n << 128n) - 1n) ^ LOW;

/** An IPv4 address in IPv6 form (`::ffff:10.0.0.1`) as the IPv4 address. */
function asIpv4(range: Range): Range {
  const { bits, value, mask } = range;
  if (bits === 32 || (value & MAPPED_MASK) !== MAPPED || (mask & MAPPED_MASK) !== MAPPED_MASK) return range;
  return { bits: 32, value: value & LOW, mask: mask & LOW };
}

/** An address as it is written. */
function numberOf(text: string): Address {
  const plain = text.replace(/%.*$/, "");
  if (isIP(plain) === 4) return { bits: 32, value: joined(plain.split(".").map(Number), 8n) };
  const hexadecimal = plain.replace(/[\d.]+$/, (end) => end.includes(".") ? groupsOfIpv4(end) : end);
  const [head, tail] = hexadecimal.split("::").map((half) => half === "" ? [] : half.split(":"));
  const gap = tail === undefined ? [] : new Array<string>(8 - head.length - tail.length).fill("0");
  const groups = [...head, ...gap, ...tail ?? []].map((group) => parseInt(group, 16));
  return { bits: 128, value: joined(groups, 16n) };
}

function groupsOfIpv4(text: string): string {
  const [a, b, c, d] = text.split(".").map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

function joined(parts: readonly number[], width: bigint): bigint {
  return parts.reduce((value, part) => (value << width) | BigInt(part), 0n);
}
