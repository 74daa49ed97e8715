/** A digest of bytes that arrive in chunks. */
export interface Digest {
  update(part: Uint8Array): void;
  /** Hexadecimal, in lower case. */
  hex(): string;
}
