/** Longer entries than any address are cut: they come from outside and are kept as keys. */
const MAX_ADDRESS_CHARACTERS = 64;

/**
 * The address that login attempts are counted under: in `X-Forwarded-For` the entry that the outermost of our own
 * proxies wrote, else the peer's.
 *
 * @param trustedHops how many proxies before this role are ours; 0 ignores the header, since anybody may send one
 */
export function clientAddress(forwardedFor: string | null, peer: string | null, trustedHops: number): string {
  const entries = forwardedFor?.split(",") ?? [];
  const entry = trustedHops > 0 ? entries.at(-trustedHops)?.trim() : undefined;
  return (entry || peer || "unknown").slice(0, MAX_ADDRESS_CHARACTERS);
}
